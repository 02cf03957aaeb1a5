"""From episodes to numbers."""

import itertools
import json
import math
import random
from statistics import fmean

import pytest
from msgspec.structs import replace

from gem.episode import Completion, Episode, Trace, Turn
from gem.errors import Failure
from gem_eval.results import Result, Tally
from gem_eval.results.curves import Point, curves, smooth, thinned
from gem_eval.results.intervals import wilson_interval

FAILURE = Failure("OSError: the disk is full", "Traceback …")


def episode(rewards: list[float], seed: int = 0, *, success: bool = False, failure: Failure | None = None) -> Episode:
    turns = tuple(Turn("seen", Completion("said"), reward, {}) for reward in rewards)
    return Episode(
        id="game:A",
        seed=seed,
        traces=(Trace(turns),),
        observation="the end",
        terminated=failure is None,
        truncated=False,
        success=success,
        failure=failure,
    )


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_equals_the_published_one(successes: int, trials: int, low: float, high: float) -> None:
    # R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
    # table I, method 3.
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("trials", [1, 2, 7, 100, 12345])
def test_the_ends_of_the_interval_solve_wilsons_equation(trials: int) -> None:
    # Each end p is a rate from which the observed one lies exactly 1.96 standard errors away.
    for successes in {0, 1, trials // 3, trials - 1, trials}:
        for p in wilson_interval(successes, trials):
            if 0 < p < 1:
                assert abs(successes / trials - p) == pytest.approx(
                    1.959964 * math.sqrt(p * (1 - p) / trials), rel=1e-6
                )


@pytest.mark.parametrize("trials", [1, 3, 1000])
def test_the_interval_is_exact_at_its_limits_and_symmetric(trials: int) -> None:
    assert wilson_interval(0, trials)[0] == 0.0
    assert wilson_interval(trials, trials)[1] == 1.0
    for successes in range(min(trials, 5) + 1):
        low, high = wilson_interval(successes, trials)
        mirrored_low, mirrored_high = wilson_interval(trials - successes, trials)
        assert (low, high) == pytest.approx((1 - mirrored_high, 1 - mirrored_low))


def test_nothing_tried_means_nothing_known() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_failed_episodes_are_counted_by_culprit_and_left_out_of_every_mean() -> None:
    said = Completion("said")
    played = [
        episode([0.5, 1.0], 1, success=True),
        episode([0.0], 2),
        episode([-0.1], 3),
        *(replace(episode([9.0] * 9, 4, failure=FAILURE), failed_on=said) for _ in range(2)),
        replace(episode([], 5, failure=FAILURE), traces=()),
        episode([9.0], 6, failure=FAILURE),
        episode([9.0], 6, failure=Failure("ServerFault: 503", "", unreachable=True)),
        replace(episode([9.0], 7, failure=Failure("ToolTimeout: search took 5 s", "")), failed_on=said),
    ]
    found = Result.of(iter(played))

    assert (found.id, found.episodes, found.failures) == ("game:A", 9, 6)
    assert found.culprits == {"env": 3, "policy": 1, "unreachable": 1, "tool": 1}
    assert found.success == pytest.approx(1 / 3)
    assert found.success_ci == pytest.approx(wilson_interval(1, 3))
    assert found.return_mean == pytest.approx((1.5 + 0.0 - 0.1) / 3)
    assert found.turns_mean == pytest.approx(4 / 3)


def test_the_order_of_the_episodes_does_not_change_a_bit_of_the_result() -> None:
    played = [episode([0.1 * i, 1e-9 * i, 1e6], i % 10) for i in range(50)]

    assert Result.of(reversed(played), k=5).as_json() == Result.of(played, k=5).as_json()


def test_the_result_is_that_of_brute_force() -> None:
    """Of three attempts at each of 12 items, two of which failed: from the episodes, without the formulas."""
    rng = random.Random(3)
    played = [
        episode([rng.choice([0.0, 0.5])], item, success=rng.random() < 0.5) for item in range(12) for _ in range(3)
    ]
    played += [episode([99.0], item, failure=FAILURE) for item in (3, 90)]
    found = Result.of(played, k=3)
    sound = [[each for each in played if each.seed == item and not each.failure] for item in range(12)]

    assert (found.episodes, found.items, found.failures) == (38, 12, 2)
    assert found.success == pytest.approx(fmean(each.success for tried in sound for each in tried))
    assert found.return_mean == pytest.approx(fmean(each.total_reward for tried in sound for each in tried))
    for size in (1, 2, 3):
        draws = [list(itertools.combinations([each.success for each in tried], size)) for tried in sound]
        assert found.pass_at[size] == pytest.approx(fmean(fmean(map(any, of_item)) for of_item in draws))
        assert found.pass_hat[size] == pytest.approx(fmean(fmean(map(all, of_item)) for of_item in draws))
    assert found.success_ci[0] < found.success < found.success_ci[1]


def test_an_item_with_a_failed_attempt_counts_for_success_but_not_for_pass_at_k() -> None:
    tries = [(0, True, None), (0, True, FAILURE), (1, False, None), (1, True, None)]
    found = Result.of([episode([1.0], item, success=won, failure=failure) for item, won, failure in tries], k=2)

    assert (found.success, found.complete) == (0.75, 1)
    assert (found.pass_at, found.pass_hat) == ({1: 0.75, 2: 1.0}, {1: 0.75, 2: 0.0})


def test_what_cannot_be_known_is_null_in_json_and_so_is_an_infinite_return() -> None:
    found = Result.of([episode([1.0], failure=FAILURE)]).as_json()
    infinite = Result.of([episode([math.inf])]).as_json()

    assert (found["success"], found["return_mean"], found["turns_mean"]) == (None, None, None)
    assert (found["success_ci"], found["failures"]) == ([0.0, 1.0], 1)
    assert json.loads(json.dumps(infinite, allow_nan=False))["return_mean"] is None


def test_a_result_for_each_id_counts_its_own_episodes() -> None:
    played = [
        replace(episode([1.0], seed, success=won), id=id)
        for seed, (id, won) in enumerate([("b:B", True), ("a:A", False), ("b:B", False)])
    ]

    assert [(each.id, each.episodes, each.success) for each in Result.per_id(played)] == [
        ("a:A", 1, 0.0),
        ("b:B", 2, 0.5),
    ]
    assert Result.of(played).id == "all"


def test_the_return_of_an_episode_is_rounded_once_and_so_the_same_on_every_version_of_python() -> None:
    # From left to right this comes to 0.9999999999999999, as `sum` has it up to Python 3.11.
    assert episode([0.1] * 10).total_reward == 1.0


@pytest.mark.parametrize("failure", [None, FAILURE])
def test_a_result_is_read_back_from_its_json(failure: Failure | None) -> None:
    tally = Tally()
    for seed in range(3):
        tally.add(episode([float(seed)], seed, failure=failure))
    found = tally.result("game:A", k=2, floors={"random": Result.of([episode([1.0], failure=failure)])})
    read = Result.from_json(json.loads(json.dumps(found.as_json())))

    # They are compared as text, because NaN, the success where all episodes failed, is not equal to itself.
    assert repr(read) == repr(found)


def test_tallies_of_the_same_items_are_merged_as_different_ones() -> None:
    tallies = [Tally(), Tally()]
    for tally, won in zip(tallies, (True, False), strict=True):
        for seed in range(4):
            tally.add(episode([1.0], seed, success=won, failure=FAILURE if seed == 3 else None))
    found = Tally.merged(tallies).result("all")

    assert (found.episodes, found.items, found.success, found.failures) == (8, 6, 0.5, 2)


def test_curves_have_no_point_where_nothing_was_measured() -> None:
    lines = [
        {"phase": "train", "step": step, "success": None if step == 2 else step / 4, "success_low": 0.0, "flag": True}
        for step in range(1, 5)
    ]
    found = curves([*lines, {"phase": "eval", "step": "last", "success": 1.0}, {}])

    points = found["success"]["train"]
    assert points == [Point(1, 0.25, 0.0), Point(3, 0.75, 0.0), Point(4, 1.0, 0.0)]
    assert set(found) == {"success", "success_low"}
    assert [point.mean for point in smooth(points, 2)] == [0.25, 0.5, 0.875]
    assert [point.step for point in thinned(points, 2)] == [1, 4]
    assert [point.step for point in thinned(points, 1)] == [1, 4]
