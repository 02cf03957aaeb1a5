"""Estimates with intervals, from several attempts at the same items."""

import math
from collections.abc import Sequence
from statistics import fmean

Z95 = 1.959963984540054
"""The 97.5% quantile of the standard normal distribution."""
_T975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
    2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
    2.0452, 2.0423,
)  # fmt: skip
"""The 97.5% quantile of Student's t with 1, 2, … 30 degrees of freedom."""


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


def rates_interval(rates: Sequence[float], attempts: int) -> tuple[float, float]:
    """The 95% interval of the mean of a chance that is estimated per item, such as the success; (0, 1) without items.

    Attempts at one item are alike, so they say less than as many attempts at different items. This is the Wilson
    interval with the effective number of attempts, which is between the number of items and that of attempts.

    Args:
        rates: the estimate for each item.
        attempts: at all items together.

    Sources: L. Kish, "Survey Sampling" (1965), section 8.2: the design effect; E. L. Korn, B. I. Graubard, "Confidence
    intervals for proportions with small expected number of positive counts estimated from survey data", Survey
    Methodology 24 (1998): its degrees of freedom.
    """
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
