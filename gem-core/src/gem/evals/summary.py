"""From episodes to a summary: rates with intervals, returns, tokens and latency."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from statistics import fmean
from typing import Any

import numpy as np

from gem.evals.meter import cost
from gem.evals.settings import Prices
from gem.failure import Failure
from gem.rollout.estimates import clustered_interval, item_of, mean_interval, pass_at_k, pass_hat_k, rates_interval
from gem.rollout.transcript import Episode, Usage

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an evaluation remembers of an episode: its `id`, `seed`, `success`, `turns`, `failure` and `usage`."""

    id: str
    item: str
    """See `gem.rollout.estimates.item_of`."""
    seed: int
    success: bool
    total: float
    """Its return."""
    turns: int
    calls: float | None
    """Executed tool calls; None without tools."""
    refused: float | None
    """Refused ones."""
    cut_off: bool
    """Whether it was truncated at the limit of turns or of the model's context."""
    failure: Failure | None
    usage: Usage
    seconds: tuple[float, ...]
    """Of each reply, where known."""

    @classmethod
    def of(cls, episode: Episode) -> "Outcome":
        """The outcome of an episode."""
        used = [turn.completion.usage for turn in episode.turns if turn.completion.usage is not None]
        last: Mapping[str, Any] = episode.turns[-1].info if episode.turns else {}
        return cls(
            id=episode.id,
            item=item_of(episode),
            seed=episode.seed,
            success=episode.success,
            total=episode.total_reward,
            turns=len(episode.turns),
            calls=_number(last.get("tool_use_counter")),
            refused=_number(last.get("tool_refused_counter")),
            cut_off=episode.cut_off,
            failure=episode.failure,
            usage=reduce(add, used, Usage()),
            seconds=tuple(usage.seconds for usage in used if usage.seconds),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """The result on one id, or on all together. Failed episodes are counted in `failures` and left out of the rest.

    A value is NaN where nothing is known. Intervals are 95% intervals over items (`success_ci`, `return_ci`):
    attempts at one item are alike. `return_mean` and `turns_mean` are per episode.
    """

    id: str
    """`"all"` for several."""
    group: str
    """The name of its group in a suite; `""` without one."""
    episodes: int
    """Episodes that were played, failed ones included."""
    items: int
    """Items with an episode that did not fail."""
    failures: int
    success: float
    """The mean success rate of the items."""
    success_ci: Interval
    k: int
    """Attempts at each item."""
    complete: int
    """Items of which k attempts did not fail: those that pass@k and pass^k are means of."""
    pass_at: Mapping[int, float]
    """For 1, 2, 4 … and k: the chance that at least one of so many attempts succeeds; the unbiased estimate."""
    pass_at_ci: Interval
    """Of that for k."""
    pass_hat: Mapping[int, float]
    """The same for the chance that all of them do (pass^k)."""
    pass_hat_ci: Interval
    """Of that for k."""
    return_mean: float
    return_ci: Interval
    turns_mean: float
    calls_mean: float | None
    """Executed tool calls per episode; None without tools."""
    refused_mean: float | None
    """Refused ones."""
    cut_off: int
    """Episodes that were truncated at the limit of turns or of the model's context."""
    prompt_tokens: int
    """Tokens read, of all replies."""
    completion_tokens: int
    """Tokens written."""
    cost: float | None
    """Of these tokens; None without prices."""
    latency_median: float
    """Seconds per reply."""
    latency_p95: float
    """Seconds within which 95% of the replies came."""
    floors: Mapping[str, "Summary"]
    """`random` and `expert`, one attempt at each item."""

    @classmethod
    def of(
        cls,
        outcomes: Iterable[Outcome],
        *,
        id: str,
        group: str = "",
        k: int = 1,
        prices: Prices | None = None,
        floors: Mapping[str, "Summary"] | None = None,
    ) -> "Summary":
        """The summary of outcomes."""
        played = list(outcomes)
        sound = [each for each in played if each.failure is None]
        items: dict[str, list[Outcome]] = {}
        for each in sound:
            items.setdefault(each.item, []).append(each)
        counts = [(sum(each.success for each in tried), len(tried)) for tried in items.values()]
        returns = [fmean(each.total for each in tried) for tried in items.values()]
        usage = reduce(add, (each.usage for each in sound), Usage())
        replies = sorted(seconds for each in sound for seconds in each.seconds)
        at, hat = (_powers(estimate, counts, k) for estimate in (pass_at_k, pass_hat_k))
        return cls(
            id=id,
            group=group,
            episodes=len(played),
            items=len(items),
            failures=len(played) - len(sound),
            success=_mean([won / tried for won, tried in counts]),
            success_ci=clustered_interval(counts),
            k=k,
            complete=sum(tried >= k for _, tried in counts),
            pass_at=at[0],
            pass_at_ci=at[1],
            pass_hat=hat[0],
            pass_hat_ci=hat[1],
            return_mean=_mean(returns),
            return_ci=mean_interval(returns),
            turns_mean=_mean([each.turns for each in sound]),
            calls_mean=_mean_or_none([each.calls for each in sound]),
            refused_mean=_mean_or_none([each.refused for each in sound]),
            cut_off=sum(each.cut_off for each in sound),
            prompt_tokens=usage.prompt,
            completion_tokens=usage.completion,
            cost=cost(usage, prices) if prices else None,
            latency_median=float(np.quantile(replies, 0.5)) if replies else math.nan,
            latency_p95=float(np.quantile(replies, 0.95)) if replies else math.nan,
            floors=floors or {},
        )

    def as_json(self) -> dict[str, Any]:
        """The summary for `json.dumps`: NaN and infinity become None."""
        return _finite(asdict(self))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _finite(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, tuple):
        return [_finite(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _powers(
    estimate: Callable[[int, int, int], float], counts: Sequence[tuple[int, int]], k: int
) -> tuple[dict[int, float], Interval]:
    """The mean of an estimate over items for 1, 2, 4 … and k, and the interval of that for k."""
    sizes = sorted({k, *(2**power for power in range(k.bit_length()) if 2**power < k)})
    of_items = {size: [estimate(won, tried, size) for won, tried in counts if tried >= size] for size in sizes}
    attempts = sum(tried for _, tried in counts if tried >= k)
    return {size: _mean(each) for size, each in of_items.items()}, rates_interval(of_items[k], attempts)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return _mean(known) if known else None


def _number(value: object) -> float | None:
    # The info of an env or a recording may have anything under this key.
    return float(value) if isinstance(value, int | float) else None
