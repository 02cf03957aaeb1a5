"""Two policies compared, checked by brute force and by simulation."""

import itertools
import math
import random
from statistics import fmean

import pytest

from gem_eval.comparison import compare, sign_flip_p


def test_equal_differences_do_not_tell_how_far_their_mean_is_known():
    solved = {str(item): [1.0] for item in range(9)}
    assert math.isnan(compare(solved, solved).interval[0])


def test_signs_are_flipped_as_by_brute_force():
    differences = [0.5, -0.25, 1.0, 0.0, 0.125, -0.5]
    sums = [
        abs(math.fsum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    observed = abs(math.fsum(differences))
    assert sign_flip_p(differences) == pytest.approx(fmean(each >= observed - 1e-12 for each in sums))
    assert sign_flip_p([]) == sign_flip_p([0.0, 0.0]) == 1.0


@pytest.mark.parametrize("items", [8, pytest.param(40, marks=pytest.mark.full)])
def test_two_equal_policies_are_told_apart_in_at_most_one_of_twenty_cases(items):
    rng = random.Random(3)
    false, uncovered, cases = 0, 0, 2000
    for _ in range(cases):
        rates = [rng.random() for _ in range(items)]
        one, other = (
            {str(n): [rng.random() < rate for _ in range(2)] for n, rate in enumerate(rates)} for _ in range(2)
        )
        found = compare(one, other)
        false += found.p <= 0.05
        uncovered += not found.interval[0] <= 0 <= found.interval[1]
    assert false / cases <= 0.06
    assert uncovered / cases <= 0.08


def test_a_better_policy_is_found():
    rng = random.Random(4)
    one = {str(item): [float(rng.random() < 0.3)] for item in range(200)}
    other = {str(item): [float(rng.random() < 0.6)] for item in [*range(200), "only one has it"]}
    found = compare(one, other)
    assert found.items == 200
    assert found.difference == pytest.approx(found.second - found.first)
    assert found.interval[0] > 0
    assert found.p < 0.001
    assert found.better > found.worse
