"""Estimates from several attempts at the same items, and the comparison of two policies on the same items.

An *item* is what an attempt starts from: an id with a seed and options, such as the row of a data set.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from gem.rollout.report import Z95, wilson_interval
from gem.rollout.transcript import Episode

_T975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
    2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
    2.0452, 2.0423,
)  # fmt: skip
"""The 97.5% quantile of Student's t with 1, 2, … 30 degrees of freedom."""

FLIPS = 10_000
"""Random sign patterns of `sign_flip_p`, where all of them are more."""


def pass_at_k(successes: int, attempts: int, k: int) -> float:
    """The chance that at least one of `k` attempts succeeds; unbiased. NaN with fewer than `k` attempts.

    Source: M. Chen et al., "Evaluating Large Language Models Trained on Code", arXiv 2107.03374, eq. 1.
    """
    if attempts < k:
        return math.nan
    return 1.0 - math.comb(attempts - successes, k) / math.comb(attempts, k)


def pass_hat_k(successes: int, attempts: int, k: int) -> float:
    """The chance that all of `k` attempts succeed (pass^k); unbiased. NaN with fewer than `k` attempts.

    Source: S. Yao et al., "τ-bench", arXiv 2406.12045, section 3.
    """
    return math.nan if attempts < k else math.comb(successes, k) / math.comb(attempts, k)


def clustered_interval(counts: Iterable[tuple[int, int]]) -> tuple[float, float]:
    """The 95% interval of the mean success over items, of (successes, attempts) of each; (0, 1) without attempts.

    Attempts at one item are alike, so they say less than as many attempts at different items. This is the Wilson
    interval with the effective number of attempts, which is between the number of items and that of attempts.

    Sources: L. Kish, "Survey Sampling" (1965), section 8.2: the design effect; E. L. Korn, B. I. Graubard, "Confidence
    intervals for proportions with small expected number of positive counts estimated from survey data", Survey
    Methodology 24 (1998): its degrees of freedom.
    """
    counted = [(won, tried) for won, tried in counts if tried]
    return rates_interval([won / tried for won, tried in counted], sum(tried for _, tried in counted))


def rates_interval(rates: Sequence[float], attempts: int) -> tuple[float, float]:
    """The same of the rate of each item, or of another chance that is estimated per item, such as pass@k."""
    items = len(rates)
    if items == 0:
        return 0.0, 1.0
    rate = fmean(rates)
    effective = float(items)
    if items > 1 and 0.0 < rate < 1.0:
        variance = math.fsum((each - rate) ** 2 for each in rates) / (items * (items - 1))
        worth = min(float(attempts), rate * (1.0 - rate) / variance if variance else math.inf)
        # The variance is known from few items only: see Korn and Graubard.
        effective = max(effective, worth * (Z95 / student_t(items - 1)) ** 2)
    return wilson_interval(rate * effective, effective)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two policies on the items that both have tried without a failure."""

    items: int
    first: float
    """The mean of the first policy over items."""
    second: float
    """That of the second."""
    difference: float
    """Second minus first."""
    interval: tuple[float, float]
    """The 95% interval of the difference, over items: see `mean_interval`."""
    p: float
    """How often a difference as large arises by chance alone: `sign_flip_p`."""
    better: int
    """Items on which the second has the higher mean."""
    worse: int


def compare(first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]) -> Comparison:
    """Compare values (successes or returns) per item; an item that only one of them has is left out."""
    shared = [item for item in first if first[item] and second.get(item)]
    pairs = [(fmean(first[item]), fmean(second[item])) for item in shared]
    differences = [after - before for before, after in pairs]
    mean = fmean(differences) if pairs else math.nan
    return Comparison(
        items=len(pairs),
        first=fmean(before for before, _ in pairs) if pairs else math.nan,
        second=fmean(after for _, after in pairs) if pairs else math.nan,
        difference=mean,
        interval=mean_interval(differences),
        p=sign_flip_p(differences),
        better=sum(each > 0 for each in differences),
        worse=sum(each < 0 for each in differences),
    )


def sign_flip_p(differences: Sequence[float]) -> float:
    """The two-sided p of the permutation test of paired differences: how often random signs give as large a sum.

    All sign patterns are counted if they are at most `FLIPS`, otherwise `FLIPS` random ones, always the same. 1 without
    a difference.

    Source: R. A. Fisher, "The Design of Experiments" (1935), section 21.
    """
    sizes = [abs(each) for each in differences if each]
    if not sizes:
        return 1.0
    observed = abs(math.fsum(differences)) * (1.0 - 1e-12)  # equal sums may differ in rounding
    if 2 ** len(sizes) <= FLIPS:
        sums = [0.0]
        for size in sizes:
            sums = [each + sign for each in sums for sign in (size, -size)]
        return sum(abs(each) >= observed for each in sums) / len(sums)
    totals, rng = np.zeros(FLIPS), np.random.default_rng(0)
    for size in sizes:
        totals += np.where(rng.random(FLIPS) < 0.5, size, -size)
    extreme = 1 + int(np.count_nonzero(np.abs(totals) >= observed))  # the observed pattern is one of them
    return extreme / (FLIPS + 1)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95% interval of a mean by Student's t; NaN where all values are equal, which do not tell the spread."""
    if len(values) < 2 or min(values) == max(values):
        return math.nan, math.nan
    mean = fmean(values)
    # Exact sums: the order in which episodes ended must not show in the last digit.
    variance = math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1)
    half = student_t(len(values) - 1) * math.sqrt(variance / len(values))
    return mean - half, mean + half


def student_t(degrees: int) -> float:
    """The 97.5% quantile of Student's t, to three digits."""
    # Beyond the table, the first terms of the expansion in 1 / degrees.
    return _T975[degrees - 1] if degrees <= len(_T975) else Z95 + 2.3722 / degrees + 2.8225 / degrees**2


def attempts_by_item(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    """The episodes of each item, failed ones left out."""
    items: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.failure is None:
            items.setdefault(item_of(episode), []).append(episode)
    return items


def item_of(episode: Episode) -> str:
    """What an episode started from, as text: the row where its options have one, and otherwise the seed."""
    options = dict(episode.options or {})
    if "index" in options:
        return f"{episode.id} {sorted(options.items())}"
    return f"{episode.id} seed {episode.seed} {sorted(options.items()) or ''}".rstrip()
