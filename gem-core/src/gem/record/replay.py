"""Replaying recorded episodes: whether they are reproduced, and how the current rules grade them.

A replay builds and runs what the recording names; unless it is trusted, only what `gem.record.trust` allows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gem import __version__
from gem.core import Step, Wrapper
from gem.errors import RecordError, Unreachable
from gem.failure import one_line
from gem.packs.discovery import CORE
from gem.packs.importing import import_object
from gem.packs.make import make
from gem.packs.registry import registry
from gem.packs.spec import EnvId, EnvSpec
from gem.record.format import EpisodeRecord, content_of, same_json
from gem.record.trust import check_trusted


class Difference(NamedTuple):
    """The first difference between a recording and its replay: the `recorded` and the `replayed` value."""

    turn: int
    """The turn, counting from 1; 0 is the reset."""
    what: str
    """`observation`, `reward`, `terminated`, `truncated`, `success`, or `error` (the env raised or cannot be built, or
    the recorded episode is incomplete)."""
    recorded: Any
    replayed: Any


@dataclass(frozen=True, slots=True)
class Rescore:
    """The grades of a recorded episode: as recorded, and by the current rules."""

    success: tuple[bool, bool]
    """As recorded, and now."""
    total_reward: tuple[float, float]
    """The return as recorded, and now."""
    diverged: int | None
    """The first turn (from 1) whose observation differs from the recorded one, so that the actions no longer fit; or
    None."""
    error: str | None
    """The exception of the env, if it raised; the new scores then cover the turns before it."""

    @property
    def flipped(self) -> bool:
        """Whether the success has changed."""
        return self.success[0] != self.success[1]

    @property
    def changed(self) -> bool:
        """Whether the success or the return has changed."""
        return self.flipped or not same_json(*self.total_reward)


class _ReplayedStep(NamedTuple):
    """The result of the reset or of one action."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    success: bool


def reproduce(record: EpisodeRecord, *, trust: bool = False) -> Difference | None:
    """Replay a recorded episode; returns the first difference, or None if every byte is the same.

    The env is built from the recorded id, kwargs, wrappers and seed, and is given the recorded actions. Observations,
    rewards, `terminated`, `truncated` and the success of the last step are compared.

    Args:
        trust: whether to build all that the record names: any class or function, with any settings. Otherwise only
            registered envs are built, with settings, wrappers and tools that `gem_safe_settings` allows.

    Raises:
        RecordError: the record names something else, and is not trusted.
        Unreachable: what the env depends on cannot be reached, which says nothing about the recording.
    """
    if not trust:
        check_trusted(record)
    turn = 0
    replay = _replay(record)
    for turn, recorded in enumerate(_recorded_steps(record)):
        try:
            replayed = next(replay)
        except Unreachable:
            raise
        except Exception as error:
            return Difference(turn, "error", None, one_line(error))
        for what, before, now in zip(_ReplayedStep._fields, recorded, replayed, strict=True):
            if not same_json(before, now):
                return Difference(turn, what, before, now)
    if not (record.terminated or record.truncated or record.failure):
        return Difference(turn, "error", None, "the recorded episode is incomplete")
    return None


def rescore(record: EpisodeRecord, *, trust: bool = False) -> Rescore:
    """Replay a recorded episode, and grade it by the current rules. For `trust` and errors see `reproduce`."""
    if not trust:
        check_trusted(record)
    recorded = _recorded_steps(record)
    rewards: list[float] = []
    success = False
    diverged: int | None = None
    error: str | None = None
    try:
        # One step at a time: with a history in every observation, all are quadratic in the number of turns.
        for turn, now in enumerate(_replay(record), start=1):
            rewards.append(now.reward)
            success = success or now.success
            if (
                diverged is None
                and turn < len(recorded)
                and not same_json(recorded[turn - 1].observation, now.observation)
            ):
                diverged = turn
    except Unreachable:
        raise
    except Exception as raised:
        error = one_line(raised)
    return Rescore(
        success=(record.success, success),
        total_reward=(math.fsum(step.reward for step in recorded), math.fsum(rewards)),
        diverged=diverged,
        error=error,
    )


def outdated(record: EpisodeRecord) -> dict[str, tuple[str, str | None]]:
    """The distributions whose version has changed: name → (recorded, installed or None)."""
    recorded = {CORE: record.gem_core}
    if record.pack:
        recorded[record.pack.distribution] = record.pack.version
    installed = {pack.distribution: pack.version for pack in registry().packs} | {CORE: __version__}
    return {name: (old, installed.get(name)) for name, old in recorded.items() if installed.get(name) != old}


def _recorded_steps(record: EpisodeRecord) -> list[_ReplayedStep]:
    """The recorded results of the reset and of each action."""
    observations = [*(turn.observation for turn in record.turns), record.observation]
    rewards = [0.0, *(turn.reward for turn in record.turns)]
    steps = [
        _ReplayedStep(observation, reward, False, False, False)
        for observation, reward in zip(observations, rewards, strict=True)
    ]
    truncated = record.truncated and not record.cut_off
    steps[-1] = steps[-1]._replace(terminated=record.terminated, truncated=truncated, success=record.success)
    return steps


def _replay(record: EpisodeRecord) -> Iterator[_ReplayedStep]:
    """The results of the same actions now, up to the end of the episode or of the actions."""
    with make(_current_spec(record)) as env:
        observation, _ = env.reset(seed=record.seed, options=record.options)
        yield _ReplayedStep(content_of(observation), 0.0, False, False, False)
        for turn in record.turns:
            step = env.step(turn.action)
            yield _replayed_step(step)
            if step.done:
                return


def _replayed_step(step: Step) -> _ReplayedStep:
    success = step.done and bool(step.info["success"])
    return _ReplayedStep(content_of(step.observation), float(step.reward), step.terminated, step.truncated, success)


def _current_spec(record: EpisodeRecord) -> EnvSpec:
    if record.entry_point is None:
        raise RecordError("its env was not built by gem.make, so it cannot be built again")
    entry = registry().registered(record.id)
    if entry is None and record.pack:
        # Anything but an id would be taken for a module, and its package imported.
        EnvId.parse(record.id)
        registry().find(record.id)  # says why, if the pack is installed
        raise RecordError(f"no installed pack provides {record.id!r}")
    spec = entry.spec if entry else EnvSpec(id=record.id, entry_point=record.entry_point)
    # `make` calls only envs; but a wrapper is an env, and its arguments may name other objects.
    env_class = import_object(spec.entry_point)
    if isinstance(env_class, type) and issubclass(env_class, Wrapper):
        raise RecordError(f"{spec.entry_point!r} is not an environment")
    return spec.model_copy(update={"kwargs": record.kwargs, "max_turns": record.max_turns, "wrappers": record.wrappers})
