"""Scores in the turns of an episode, and the parts of rewards that follow from them and from weights.

The info of a scored turn has `scored`: under `env` the parts of the reward that the env gave; under `scores` each score
as it was, with its details; under `weights` the weight of each. The products are the parts of the turn's reward. If a
score decides on success, `success` is what the env said.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gem.episode import Episode, Trace, Turn
from gem.errors import ConfigError, did_you_mean
from gem.rewards.score import Scores

ENV = "env"
"""The reward that the env gave, and its part where the env does not name parts."""
SCORED = "scored"
"""The key in the info of a turn."""


class _Scored(Struct, frozen=True, omit_defaults=True):
    """What a turn keeps of its scores."""

    env: dict[str, float]
    scores: dict[str, dict[str, Any]]
    weights: dict[str, float]
    success: bool | None = None

    @property
    def values(self) -> dict[str, float]:
        """Every score without its weight, those of the env first."""
        return {**self.env, **{part: float(each["score"]) for part, each in self.scores.items()}}


def reward_of(part: str) -> str:
    """The name of the reward that gave a part, such as `judge` of `judge/clear`."""
    return part.partition("/")[0]


def has_ended(episode: Episode) -> bool:
    """Whether it was played to its end; if it is a failure then, a reward has failed."""
    return episode.terminated or episode.truncated


def with_scores(turn: Turn, scores: Scores, weights: Mapping[str, float]) -> Turn:
    """A turn that has not been scored, with scores and the parts that follow from them; as it is if nothing changes.

    Args:
        turn: of an episode.
        scores: by part.
        weights: by part, by reward, or `env`; 1 for those that are missing.

    Raises:
        ConfigError: the env has a part of that name.
    """
    if taken := scores.keys() & turn.parts.keys():
        raise ConfigError(
            f"the env gives a reward named {min(taken)!r} itself: give that of the pipeline another name, with name="
        )
    if not scores and weights.get(ENV, 1.0) == 1.0:
        return turn
    values = {part: {**score.details, "score": score.value} for part, score in scores.items()}
    return _weighted(turn, _Scored(dict(turn.parts) or {ENV: turn.reward}, values, {}), weights)


def reweighted(episode: Episode, weights: Mapping[str, float]) -> Episode:
    """A scored episode with other weights, from the scores that it has: nothing is scored again.

    Args:
        episode: with or without scores.
        weights: by part (`judge/clear`), by reward (`judge`), or `env`; those that are missing stay as they are.
    """

    def changed(turn: Turn) -> Turn:
        if (scored := _scored_of(turn)) is None:
            return with_scores(turn, {}, weights)
        kept = {part: weight for part, weight in scored.weights.items() if reward_of(part) not in weights}
        return _weighted(turn, scored, {**kept, **weights})

    def of_trace(trace: Trace) -> Trace:
        if not any(map(_scored_of, trace.turns)):
            return trace
        return replace(trace, turns=tuple(map(changed, trace.turns)))

    return episode.each_trace(of_trace)


def weighed(episode: Episode) -> set[str]:
    """The names that `weights` may have for the scores of an episode: of parts, of rewards, and `env`."""
    scores = (_scored_of(turn) for trace in episode.traces for turn in trace.turns)
    parts = {part for scored in scores if scored is not None for part in scored.scores}
    return {ENV, *parts, *map(reward_of, parts)}


def unscored(episode: Episode) -> Episode:
    """The episode as its env rewarded it, and without the failure of a reward; it may be scored again."""
    success = episode.success

    def bare(turn: Turn) -> Turn:
        nonlocal success
        if (scored := _scored_of(turn)) is None:
            return turn
        success = success if scored.success is None else scored.success
        info = {name: value for name, value in turn.info.items() if name != SCORED}
        parts = {} if ENV in scored.env else scored.env
        return replace(turn, reward=math.fsum(scored.env.values()), parts=parts, info=info)

    played = _each_turn(episode, bare)
    return replace(played, success=success, failure=None if has_ended(episode) else episode.failure)


def with_success(episode: Episode, part: str, least: float) -> Episode:
    """A scored episode that is a success if a part has at least this score in the last turn of each scored player.

    Raises:
        ConfigError: one of these turns does not have that part.
    """
    found: list[float] = []

    def told(trace: Trace) -> Trace:
        last = trace.turns[-1] if trace.turns else None
        if last is None or (scored := _scored_of(last)) is None:
            return trace
        if part not in scored.values:
            raise ConfigError(
                f"success follows from {part!r}, which is not scored.{did_you_mean(part, scored.values)} There are: "
                f"{', '.join(scored.values)}"
            )
        found.append(scored.values[part])
        return replace(trace, turns=(*trace.turns[:-1], _keeping(last, replace(scored, success=episode.success))))

    return replace(episode.each_trace(told), success=bool(found) and min(found) >= least)


def _weighted(turn: Turn, scored: _Scored, weights: Mapping[str, float]) -> Turn:
    used = {name: weights.get(name, weights.get(reward_of(name), 1.0)) for name in (ENV, *scored.scores)}
    parts = {part: used.get(part, used[ENV]) * value for part, value in scored.values.items()}
    changed = replace(turn, reward=math.fsum(parts.values()), parts=parts)
    return _keeping(changed, replace(scored, weights=used))


def _keeping(turn: Turn, scored: _Scored) -> Turn:
    return replace(turn, info={**turn.info, SCORED: msgspec.to_builtins(scored)})


def _scored_of(turn: Turn) -> _Scored | None:
    """The scores of a turn; None if it has none, or if its env or a recording has something else under this key."""
    if SCORED not in turn.info:
        return None
    try:
        scored = msgspec.convert(turn.info[SCORED], _Scored)
        return scored if scored.values else None
    except (msgspec.ValidationError, KeyError, TypeError, ValueError):
        return None


def _each_turn(episode: Episode, change: Callable[[Turn], Turn]) -> Episode:
    return episode.each_trace(lambda trace: replace(trace, turns=tuple(change(turn) for turn in trace.turns)))
