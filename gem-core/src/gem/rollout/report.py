"""Reports: success rate with a confidence interval, mean return, mean turns, failures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gem.rollout.transcript import Episode

Z95 = 1.959963984540054
"""The 97.5% quantile of the standard normal distribution."""


def wilson_interval(successes: float, trials: float) -> tuple[float, float]:
    """The 95% Wilson score interval of a proportion; (0, 1) without trials.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if trials == 0:
        return 0.0, 1.0
    rate, z2 = successes / trials, Z95 * Z95
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 / (1 + z2 / trials) * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials * trials))
    # At 0 and at `trials` the bounds are exactly 0 and 1, without a rounding error.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


@dataclass(frozen=True, slots=True)
class Report:
    """The results of `policy` on `id` from `seed`: success, mean return (`return_mean`), mean turns (`turns_mean`).

    Failed episodes are counted in `failures`, and left out of every mean.
    """

    id: str
    policy: str
    episodes: int
    """Episodes played, failed ones included."""
    seed: int
    success: float
    """The success rate of the episodes that did not fail; NaN if all failed."""
    success_ci: tuple[float, float]
    """Its 95% Wilson interval."""
    return_mean: float
    turns_mean: float
    calls_mean: float | None
    """Mean number of executed tool calls; None without tools."""
    refused_mean: float | None
    """Mean number of refused tool calls: see `gem.ToolEnv`."""
    failures: int
    cut_off: int = 0
    """Episodes that the rollout truncated, at its turn limit or out of context: see `gem.rollout.rollout`."""

    @classmethod
    def of(cls, episodes: Iterable[Episode], *, id: str, policy: str, seed: int) -> "Report":
        """The report of episodes of one policy on one id, or on several ids that `id` names."""
        played = list(episodes)
        sound = [episode for episode in played if episode.failure is None]
        successes = sum(episode.success for episode in sound)
        return cls(
            id=id,
            policy=policy,
            episodes=len(played),
            seed=seed,
            success=_mean([float(episode.success) for episode in sound]),
            success_ci=wilson_interval(successes, len(sound)),
            return_mean=_mean([episode.total_reward for episode in sound]),
            turns_mean=_mean([float(len(episode.turns)) for episode in sound]),
            calls_mean=_counted(sound, "tool_use_counter"),
            refused_mean=_counted(sound, "tool_refused_counter"),
            failures=len(played) - len(sound),
            cut_off=sum(episode.cut_off for episode in sound),
        )

    @classmethod
    def per_id(cls, episodes: Iterable[Episode], *, policy: str, seed: int) -> "list[Report]":
        """One report per id, sorted by id."""
        by_id: dict[str, list[Episode]] = {}
        for episode in episodes:
            by_id.setdefault(episode.id, []).append(episode)
        return [cls.of(by_id[id], id=id, policy=policy, seed=seed) for id in sorted(by_id)]

    def as_json(self) -> dict[str, Any]:
        """The report for `json.dumps`: NaN and infinity become None."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Report":
        """The report from the result of `as_json`."""
        fields = dict(values)
        fields["success_ci"] = tuple(values["success_ci"])
        for name in ("success", "return_mean", "turns_mean"):
            if fields[name] is None:
                fields[name] = math.nan
        return cls(**fields)


def _counted(episodes: Iterable[Episode], key: str) -> float | None:
    infos = [episode.turns[-1].info for episode in episodes if episode.turns]
    # The info of an env or a recording may have anything under this key.
    counts = [float(info[key]) for info in infos if isinstance(info.get(key), int | float)]
    return _mean(counts) if counts else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
