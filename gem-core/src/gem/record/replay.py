"""Playing recorded episodes again: whether they come out the same, and how they are graded today.

Replaying builds and runs what the recording names. Without a word of trust that is only what is on the list of
`gem.record.trust`.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from gem import __version__
from gem.core import Step, Wrapper
from gem.errors import RecordError
from gem.packs.discovery import CORE
from gem.packs.importing import import_object
from gem.packs.make import make
from gem.packs.registry import registry
from gem.packs.spec import EnvId, EnvSpec
from gem.record.format import EpisodeRecord, content_of
from gem.record.trust import check_trusted


class Difference(NamedTuple):
    """Where a replay first departs from its record: what was `recorded`, and what was `replayed`."""

    turn: int
    """The action that brought it about, counting from 1; 0 is the reset."""
    what: str
    """`observation`, `reward`, `terminated`, `truncated`, `success`, or `error`: the env raised or cannot be built, or
    the record has no end."""
    recorded: Any
    replayed: Any


@dataclass(frozen=True, slots=True)
class Rescore:
    """A recorded episode under the rules of the record, and under today's."""

    success: tuple[bool, bool]
    """In the record, and today."""
    total_reward: tuple[float, float]
    """The return in the record, and today."""
    diverged: int | None
    """The first turn (from 1) whose action answers another observation than the recorded one: from there on the
    episode is graded for what it did not see. None if there is none."""
    error: str | None
    """What the env raised; then the second half of the scores covers the turns before it."""

    @property
    def flipped(self) -> bool:
        """Whether it became a success or ceased to be one."""
        return self.success[0] != self.success[1]

    @property
    def changed(self) -> bool:
        """Whether the success or the return is another."""
        return self.flipped or not _same(*self.total_reward)


class _ReplayedStep(NamedTuple):
    """What the reset or one action brought about."""

    observation: Any
    reward: float
    terminated: bool
    truncated: bool
    success: bool


def reproduce(record: EpisodeRecord, *, trust: bool = False) -> Difference | None:
    """Play a recorded episode again: where it first differs, or None where every byte is the same.

    The env is made anew from the record's id, kwargs, wrappers and seed, and is given the recorded actions. What is
    compared are observations, rewards, `terminated`, `truncated` and the success of the last step.

    Args:
        trust: Whether to build whatever the record names: any class or function, with any settings. Without it only
            what is registered today is built, with settings, wrappers and tools that installed packs call safe with
            data.

    Raises:
        RecordError: the record names something else, and is not trusted; the message says what.
    """
    if not trust:
        check_trusted(record)
    turn = 0
    replay = _replay(record)
    for turn, recorded in enumerate(_recorded_steps(record)):
        try:
            replayed = next(replay)
        except Exception as error:  # whatever an env raises is what there is to report
            return Difference(turn, "error", None, _in_a_line(error))
        for what, before, now in zip(_ReplayedStep._fields, recorded, replayed, strict=True):
            if not _same(before, now):
                return Difference(turn, what, before, now)
    if not (record.terminated or record.truncated or record.failure):
        return Difference(turn, "error", None, "the record stops in the middle of the episode")
    return None


def rescore(record: EpisodeRecord, *, trust: bool = False) -> Rescore:
    """Play a recorded episode again, and grade it by the rules of today. For `trust` and errors see `reproduce`."""
    if not trust:
        check_trusted(record)
    recorded = _recorded_steps(record)
    rewards: list[float] = []
    success = False
    diverged: int | None = None
    error: str | None = None
    try:
        # One moment at a time: with a history in every observation, all of them are quadratic in the turns.
        for turn, now in enumerate(_replay(record), start=1):
            rewards.append(now.reward)
            success = success or now.success
            if diverged is None and turn < len(recorded) and not _same(recorded[turn - 1].observation, now.observation):
                diverged = turn
    except Exception as raised:
        error = _in_a_line(raised)
    return Rescore(
        success=(record.success, success),
        total_reward=(math.fsum(step.reward for step in recorded), math.fsum(rewards)),
        diverged=diverged,
        error=error,
    )


def outdated(record: EpisodeRecord) -> dict[str, tuple[str, str | None]]:
    """The distributions whose version is another today: name → (recorded, installed; None if it is not)."""
    recorded = {CORE: record.gem_core}
    if record.pack:
        recorded[record.pack.distribution] = record.pack.version
    installed = {pack.distribution: pack.version for pack in registry().packs} | {CORE: __version__}
    return {name: (old, installed.get(name)) for name, old in recorded.items() if installed.get(name) != old}


def _recorded_steps(record: EpisodeRecord) -> list[_ReplayedStep]:
    """The record as what the reset and each action brought about."""
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
    """The moments of the same actions today, up to the end of the episode or of the actions."""
    with make(_current_spec(record)) as env:
        observation, _ = env.reset(seed=record.seed)
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
        raise RecordError("its env was built by hand and not by gem.make, so it cannot be built again")
    entry = registry().registered(record.id)
    if entry is None and record.pack:
        # To look for what is no id is to look for a module, which imports the package that it lies in.
        EnvId.parse(record.id)
        registry().find(record.id)  # says why, where the pack is there
        raise RecordError(f"no installed pack has {record.id!r} any more")
    spec = entry.spec if entry else EnvSpec(id=record.id, entry_point=record.entry_point)
    # `make` calls nothing but envs. A wrapper is one, and can be told to build what is none.
    env_class = import_object(spec.entry_point)
    if isinstance(env_class, type) and issubclass(env_class, Wrapper):
        raise RecordError(f"{spec.entry_point!r} is no environment")
    return spec.model_copy(update={"kwargs": record.kwargs, "max_turns": record.max_turns, "wrappers": record.wrappers})


def _same(before: object, now: object) -> bool:
    """Whether two values are the same to the byte: 0.0 is not -0.0, and NaN is NaN."""
    return json.dumps(before, sort_keys=True) == json.dumps(now, sort_keys=True)


def _in_a_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
