"""Replaying recorded episodes: whether they are reproduced, and how the current rules grade them.

A replay builds and runs what the recording names; unless it is trusted, only what `gem_eval.trust` allows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import structs

from gem import __version__
from gem.core import Step, Wrapper
from gem.episode import Completion, Episode, Turn
from gem.episode.codec import content_of, same_json
from gem.episode.pictures import with_hashes
from gem.errors import Fault, RecordError, Unreachable, one_line
from gem.packs.discovery import CORE
from gem.packs.importing import import_object
from gem.packs.make import make
from gem.packs.registry import registry
from gem.packs.spec import EnvId, EnvSpec
from gem.rewards import unscored
from gem.rollout.running import RunningEpisode
from gem_eval.trust import check_episode


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
    """Success as recorded, and now."""
    total_reward: tuple[float, float]
    """The return as recorded, and now."""
    diverged: int | None
    """The first turn (from 1) whose observation differs from the recorded one, so that the actions no longer fit; or
    None."""
    error: str | None
    """The exception of the env, if it raised; the new scores then cover the turns before it."""

    @property
    def flipped(self) -> bool:
        """True if the success has changed."""
        return self.success[0] != self.success[1]

    @property
    def changed(self) -> bool:
        """True if the success or the return has changed."""
        return self.flipped or not same_json(*self.total_reward)


class _Outcome(NamedTuple):
    """The observation after the reset or an action, and how the episode ended with it, if it did."""

    observation: Any
    terminated: bool = False
    truncated: bool = False
    success: bool = False


class _Replayed(NamedTuple):
    """The outcome of the reset or of an action, and the turns that ended with it, each with its number from 1."""

    outcome: _Outcome
    turns: list[tuple[int, Turn]]


def reproduce(record: Episode, *, trust: bool = False) -> Difference | None:
    """Replay a recorded episode; returns the first difference, or None if every byte is the same.

    The env is built from the recorded id, kwargs, wrappers and seed, and is given the recorded actions. Observations,
    rewards, `terminated`, `truncated` and the success of the last step are compared.

    Args:
        trust: whether to build all that the record names: any class or function, with any settings. Otherwise only
            what is registered under its id is built, with the registered settings and wrappers.

    Raises:
        RecordError: the record names something else, and is not trusted.
        Unreachable: what the env depends on cannot be reached, which says nothing about the recording.
    """
    if not trust:
        check_episode(record)
    record = unscored(record)
    turn, turns = 0, record.turns
    replay = _replay(record)
    for turn, recorded in enumerate(_recorded_outcomes(record)):
        try:
            replayed = next(replay)
        except Unreachable:
            raise
        except Exception as error:
            return Difference(turn, "error", None, one_line(error))
        for what, before, now in zip(_Outcome._fields, recorded, replayed.outcome, strict=True):
            if not same_json(before, now):
                return Difference(turn, what, before, now)
        for number, played in replayed.turns:
            then = turns[number - 1]
            if not same_json([then.reward, then.parts], [played.reward, played.parts]):
                return Difference(number, "reward", then.parts or then.reward, played.parts or played.reward)
    if not (record.terminated or record.truncated or record.failure):
        return Difference(turn, "error", None, "the recorded episode is incomplete")
    return None


def rescore(record: Episode, *, trust: bool = False) -> Rescore:
    """Replay a recorded episode, and grade it by the current rules. For `trust` and errors see `reproduce`.

    Scores that rewards gave besides the env are left out of both grades.
    """
    if not trust:
        check_episode(record)
    record = unscored(record)
    recorded = _recorded_outcomes(record)
    rewards: list[float] = []
    success = False
    diverged: int | None = None
    error: str | None = None
    try:
        # One step at a time: with a history in every observation, all are quadratic in the number of turns.
        for turn, (now, turns) in enumerate(_replay(record), start=1):
            rewards += [played.reward for _, played in turns]
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
        total_reward=(record.total_reward, math.fsum(rewards)),
        diverged=diverged,
        error=error,
    )


def compare(record: Episode, now: Episode) -> Rescore:
    """The grades of a recorded episode, and of the same with other rewards; its error is that of the latter."""
    error = now.failure.error if now.failure else None
    return Rescore((record.success, now.success), (record.total_reward, now.total_reward), None, error)


def outdated(record: Episode) -> dict[str, tuple[str, str | None]]:
    """The distributions whose version has changed: name → (recorded, installed or None)."""
    recorded = {CORE: record.gem_core}
    if record.pack:
        recorded[record.pack.distribution] = record.pack.version
    installed = {pack.distribution: pack.version for pack in registry().packs} | {CORE: __version__}
    return {name: (old, installed.get(name)) for name, old in recorded.items() if installed.get(name) != old}


def _recorded_outcomes(record: Episode) -> list[_Outcome]:
    """The recorded outcomes of the reset and of each action."""
    truncated = record.truncated and not record.cut_off
    last = _Outcome(with_hashes(record.observation), record.terminated, truncated, record.success)
    return [*(_Outcome(with_hashes(turn.observation)) for turn in record.turns), last]


def _replay(record: Episode) -> Iterator[_Replayed]:
    """The results of the same actions now, up to the end of the episode or of the actions."""
    turns = record.turns
    running = RunningEpisode(record.start, None, max_turns=len(turns) + 1)
    numbers: dict[str, list[int]] = {}
    known: dict[str, int] = {}

    def after(step: Step) -> _Replayed:
        episode = running.stepped(step, None)
        if episode is not None and episode.failure is not None:
            raise Fault(episode.failure.error)
        traces = episode.traces if episode else running.transcripts.values()
        ended: list[tuple[int, Turn]] = []
        for trace in traces:
            player, seen = trace.player, known.get(trace.player, 0)
            ended += zip(numbers.get(player, [])[seen:], trace.turns[seen:], strict=False)
            known[player] = len(trace.turns)
        success = step.done and bool(step.info["success"])
        return _Replayed(
            _Outcome(with_hashes(content_of(step.observation)), step.terminated, step.truncated, success),
            sorted(ended, key=itemgetter(0)),
        )

    with make(_current_spec(record)) as env:
        observation, info = env.reset(seed=record.seed, options=record.options)
        yield after(Step(observation, 0.0, False, False, info))
        for number, turn in enumerate(turns, start=1):
            numbers.setdefault(running.player, []).append(number)
            running.said(Completion(turn.action))
            step = env.step(turn.action)
            yield after(step)
            if step.done:
                return


def _current_spec(record: Episode) -> EnvSpec:
    if record.spec is None:
        raise RecordError("its env was not built by gem.make, so it cannot be built again")
    entry = registry().registered(record.id)
    if entry is None and record.pack:
        # Anything but an id would be taken for a module, and its package imported.
        EnvId.parse(record.id)
        registry().find(record.id)  # says why, if the pack is installed
        raise RecordError(f"no installed pack provides {record.id!r}")
    spec = entry.spec if entry else record.spec
    # `make` calls only envs; but a wrapper is an env, and its arguments may name other objects.
    env_class = import_object(spec.entry_point)
    if isinstance(env_class, type) and issubclass(env_class, Wrapper):
        raise RecordError(f"{spec.entry_point!r} is not an environment")
    settings = {name: getattr(record.spec, name) for name in ("kwargs", "max_turns", "wrappers")}
    return structs.replace(spec, **settings)
