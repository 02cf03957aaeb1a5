"""Two policies compared on the items that both have tried."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from gem.episode import Episode
from gem_eval.results.intervals import mean_interval
from gem_eval.results.result import item_of

FLIPS = 10_000
"""Random sign patterns of `sign_flip_p`, where all of them are more."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two policies on the items that both have tried without a failure."""

    items: int
    first: float
    """The mean of the first policy over items."""
    second: float
    """The mean of the second policy over items."""
    difference: float
    """Second minus first."""
    interval: tuple[float, float]
    """The 95% interval of the difference, over items: see `mean_interval`."""
    p: float
    """Probability that a difference as large arises by chance alone: `sign_flip_p`."""
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


def attempts_by_item(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    """The episodes of each item, failed ones left out."""
    items: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.failure is None:
            items.setdefault(item_of(episode), []).append(episode)
    return items
