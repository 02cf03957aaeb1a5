"""From episodes to numbers: success with an interval, mean return, mean turns, failures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gem.rollout.transcript import Episode

_Z95 = 1.959963984540054
"""The 97.5% quantile of the standard normal distribution."""


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95% Wilson score interval of a proportion; (0, 1) where nothing was tried.

    Unlike the normal interval it is sound near 0 and 1 and for few trials. Source: E. B. Wilson, "Probable
    inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if trials == 0:
        return 0.0, 1.0
    rate, z2 = successes / trials, _Z95 * _Z95
    centre = (rate + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z95 / (1 + z2 / trials) * math.sqrt(rate * (1 - rate) / trials + z2 / (4 * trials * trials))
    # At 0 and at `trials` the bound is 0 or 1 exactly; rounding must not leave 1e-17 there.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return low, high


@dataclass(frozen=True, slots=True)
class Report:
    """How `policy` did on `id`, from `seed`: success, mean return (`return_mean`) and mean turns (`turns_mean`).

    Episodes that failed are counted as `failures`, and left out of every mean.
    """

    id: str
    policy: str
    episodes: int
    """Episodes played, failed ones included."""
    seed: int
    success: float
    """Share of successes among the episodes that did not fail; NaN where all failed."""
    success_ci: tuple[float, float]
    """Its 95% Wilson interval."""
    return_mean: float
    turns_mean: float
    calls_mean: float | None
    """Tool calls of an episode that were carried out; None where no episode had tools."""
    refused_mean: float | None
    """Those that were refused: see `gem.ToolEnv`."""
    failures: int
    cut_off: int = 0
    """Episodes that the rollout truncated, because the env did not end: see `gem.rollout.rollout`."""

    @classmethod
    def of(cls, episodes: Iterable[Episode], *, id: str, policy: str, seed: int) -> "Report":
        """Sum up episodes that one policy played on one id, or on several that together are called `id`."""
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
        """A report for each id that was played, sorted by id."""
        by_id: dict[str, list[Episode]] = {}
        for episode in episodes:
            by_id.setdefault(episode.id, []).append(episode)
        return [cls.of(by_id[id], id=id, policy=policy, seed=seed) for id in sorted(by_id)]

    def as_json(self) -> dict[str, Any]:
        """The report for `json.dumps`: NaN and infinities, which JSON lacks, become None."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Report":
        """The report of which `values` is what `as_json` returned."""
        fields = dict(values)
        fields["success_ci"] = tuple(values["success_ci"])
        for name in ("success", "return_mean", "turns_mean"):
            if fields[name] is None:
                fields[name] = math.nan
        return cls(**fields)


def _counted(episodes: Iterable[Episode], key: str) -> float | None:
    infos = [episode.turns[-1].info for episode in episodes]
    # Whoever wrote the env, or a recording, may have other things under this name.
    counts = [float(info[key]) for info in infos if isinstance(info.get(key), int | float)]
    return _mean(counts) if counts else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
