"""Estimates from several attempts, checked by brute force and by simulation."""

import itertools
import math
import random
from statistics import fmean

import pytest

from gem_eval.results.intervals import (
    mean_interval,
    pass_at_k,
    pass_hat_k,
    rates_interval,
    student_t,
)


def clustered_interval(counts):
    """The interval of the success, of (successes, attempts) of each item."""
    counted = list(counts)
    return rates_interval([won / tried for won, tried in counted], sum(tried for _, tried in counted))


@pytest.mark.parametrize("attempts", [1, 3, 6])
def test_pass_at_k_and_pass_hat_k_are_the_shares_of_all_draws(attempts):
    for successes in range(attempts + 1):
        results = [True] * successes + [False] * (attempts - successes)
        for k in range(1, attempts + 1):
            draws = list(itertools.combinations(results, k))
            assert pass_at_k(successes, attempts, k) == pytest.approx(fmean(any(draw) for draw in draws))
            assert pass_hat_k(successes, attempts, k) == pytest.approx(fmean(all(draw) for draw in draws))
        assert math.isnan(pass_at_k(successes, attempts, attempts + 1))
        assert math.isnan(pass_hat_k(successes, attempts, attempts + 1))


def test_both_are_unbiased():
    rng = random.Random(1)
    p, n, k = 0.3, 8, 3
    drawn = [sum(rng.random() < p for _ in range(n)) for _ in range(20_000)]
    assert fmean(pass_at_k(c, n, k) for c in drawn) == pytest.approx(1 - (1 - p) ** k, abs=0.01)
    assert fmean(pass_hat_k(c, n, k) for c in drawn) == pytest.approx(p**k, abs=0.01)


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.5], ids=["items alike", "items differ", "items all or nothing"])
def test_the_clustered_interval_covers_the_truth_in_nineteen_of_twenty_cases(spread):
    rng = random.Random(2)
    covered = 0
    for _ in range(1000):
        rates = [0.5 + rng.choice((-spread, spread)) for _ in range(40)]
        low, high = clustered_interval((sum(rng.random() < rate for _ in range(8)), 8) for rate in rates)
        covered += low <= 0.5 <= high
    assert 0.93 <= covered / 1000 <= 0.98


@pytest.mark.parametrize("items", [3, 5])
def test_the_clustered_interval_of_a_few_items_with_many_attempts_claims_no_more(items):
    rng = random.Random(5)
    covered = 0
    for _ in range(1000):
        rates = [rng.betavariate(0.3, 0.3) for _ in range(items)]
        low, high = clustered_interval((sum(rng.random() < rate for _ in range(8)), 8) for rate in rates)
        covered += low <= 0.5 <= high
    assert covered / 1000 >= 0.94


def test_equal_values_do_not_tell_how_far_a_mean_is_known():
    for values in ([], [1.0], [0.7] * 9):
        assert all(math.isnan(bound) for bound in mean_interval(values))
    assert mean_interval([0.0, 1.0, 0.5]) == pytest.approx((0.5 - 4.3027 / 12**0.5, 0.5 + 4.3027 / 12**0.5))


def test_attempts_at_one_item_say_less_than_attempts_at_many():
    low, high = clustered_interval([(8, 8), (0, 8)] * 10)
    other_low, other_high = clustered_interval([(4, 8)] * 20)
    assert other_high - other_low < high - low
    assert clustered_interval([]) == (0.0, 1.0)
    assert clustered_interval([(8, 8)] * 10)[1] == 1.0


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (30, 2.0423), (1000, 1.9623)],
)
def test_quantiles_of_t_are_those_of_the_tables(degrees, quantile):
    assert student_t(degrees) == pytest.approx(quantile, rel=0.003)
