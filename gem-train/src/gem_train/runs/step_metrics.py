"""The metrics of a training step that come from its episodes and its clock; those of the update are the learner's."""

import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from statistics import fmean

from gem.episode import Episode
from gem_eval.results import Result
from gem_train.evaluation import success_per_id

_PARTS = ("play", "learn", "sync")
"""What a step does."""


def play_metrics(episodes: Sequence[Episode], version: int) -> dict[str, float]:
    """The metrics of the episodes of a step.

    Args:
        episodes: of one batch, failed ones included.
        version: of the weights that are updated from them; `lag` counts from it.
    """
    result = Result.of(episodes)
    sound = [episode for episode in episodes if episode.failure is None]
    completions = [turn.completion for episode in episodes for turn in episode.turns]
    turns = max(1, len(completions))
    lags = [version - reply.weight_versions[0] for reply in completions if reply.weight_versions]
    return {
        "success": result.success,
        "return": result.return_mean,
        **{f"part/{part}": mean for part, mean in result.parts.items()},
        "turns": result.turns_mean,
        "failures": result.failures,
        "alike": float(len({episode.rewards for episode in sound}) == 1),
        "malformed": sum(bool(turn.info.get("malformed")) for episode in episodes for turn in episode.turns) / turns,
        "tokens": sum(len(reply.ids) for reply in completions),
        "cut_replies": sum(reply.finish_reason != "stop" for reply in completions) / turns,
        "segments": 1 + fmean(sum(turn.completion.new_segment for turn in each.turns[1:]) for each in episodes),
        "lag": fmean(lags) if lags else 0.0,
        "lag_max": max(lags, default=0),
        **_lag_histogram(sound, version),
        **success_per_id(Result.per_id(episodes)),
    }


def _lag_histogram(episodes: Sequence[Episode], version: int) -> dict[str, int]:
    """Number of episodes by the lag of their oldest reply; empty if none is late."""
    oldest = [[turn.completion.weight_versions[:1] for turn in episode.turns] for episode in episodes]
    lags = Counter(version - min(min(versions) for versions in each if versions) for each in oldest if any(each))
    return {f"lag/{lag}": lags[lag] for lag in range(max(lags) + 1)} if any(lags) else {}


def waited(clock: Mapping[str, float]) -> float:
    """The share of a step in which the learner waited for episodes, given the seconds of its clock."""
    play, *others = (clock[f"seconds_{doing}"] for doing in _PARTS)
    whole = play + sum(others)
    return play / whole if whole else 0.0


class StepClock:
    """Seconds of a step by what was going on."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = dict.fromkeys(_PARTS, 0.0)

    @contextmanager
    def of(self, doing: str) -> Generator[None]:
        """Count the block as `play`, `learn` or `sync`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[doing] += time.perf_counter() - began

    def metrics(self, tokens: float) -> dict[str, float]:
        """The seconds, and the sampled `tokens` per second of the whole step; starts again from 0."""
        seconds, self._seconds = self._seconds, dict.fromkeys(self._seconds, 0.0)
        whole = sum(seconds.values())
        values = {f"seconds_{doing}": each for doing, each in seconds.items()}
        return {**values, "tokens_per_second": tokens / whole if whole else 0.0}
