"""From episodes to numbers."""

import json
import math
from dataclasses import replace

import pytest

from gem.failure import Failure
from gem.rollout.report import Report, wilson_interval
from gem.rollout.transcript import Completion, Episode, Turn

FAILURE = Failure("OSError: the disk is full", "Traceback …")


def episode(rewards: list[float], *, success: bool = False, failure: Failure | None = None) -> Episode:
    turns = tuple(Turn("seen", Completion("said"), reward, {}) for reward in rewards)
    return Episode("game:A", 0, 0, turns, "the end", failure is None, False, success, failure)


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


def test_failed_episodes_are_counted_and_left_out_of_every_mean() -> None:
    played = [
        episode([0.5, 1.0], success=True),
        episode([0.0]),
        episode([-0.1], success=False),
        episode([9.0] * 9, failure=FAILURE),
    ]
    report = Report.of(iter(played), id="game:A", policy="random", seed=3)

    assert (report.episodes, report.failures) == (4, 1)
    assert report.success == pytest.approx(1 / 3)
    assert report.success_ci == wilson_interval(1, 3)
    assert report.return_mean == pytest.approx((1.5 + 0.0 - 0.1) / 3)
    assert report.turns_mean == pytest.approx(4 / 3)


def test_the_order_of_the_episodes_does_not_change_a_bit_of_the_report() -> None:
    played = [episode([0.1 * i, 1e-9 * i, 1e6]) for i in range(50)]
    forwards = Report.of(played, id="game:A", policy="p", seed=0)

    assert Report.of(reversed(played), id="game:A", policy="p", seed=0) == forwards


def test_a_report_is_json_with_its_fields_in_order() -> None:
    report = Report.of([episode([1.0], success=True)], id="game:A", policy="expert", seed=3).as_json()

    fields = (
        "id policy episodes seed success success_ci return_mean turns_mean calls_mean refused_mean failures cut_off"
    )
    assert " ".join(report) == fields
    assert json.loads(json.dumps(report, allow_nan=False))["success"] == 1.0


def test_what_cannot_be_known_is_null() -> None:
    report = Report.of([episode([1.0], failure=FAILURE)], id="game:A", policy="expert", seed=3).as_json()

    assert (report["success"], report["return_mean"], report["turns_mean"]) == (None, None, None)
    assert (report["success_ci"], report["failures"]) == ((0.0, 1.0), 1)


def test_an_infinite_return_is_null_because_json_has_no_word_for_it() -> None:
    report = Report.of([episode([math.inf])], id="game:A", policy="p", seed=0)

    assert json.loads(json.dumps(report.as_json(), allow_nan=False))["return_mean"] is None


def test_a_report_for_each_id_counts_its_own_episodes() -> None:
    played = [
        replace(episode([1.0], success=won), id=id) for id, won in [("b:B", True), ("a:A", False), ("b:B", False)]
    ]
    reports = Report.per_id(played, policy="p", seed=0)

    assert [(report.id, report.episodes, report.success) for report in reports] == [("a:A", 1, 0.0), ("b:B", 2, 0.5)]


def test_the_return_of_an_episode_is_rounded_once_and_so_the_same_on_every_version_of_python() -> None:
    # From left to right this comes to 0.9999999999999999, as `sum` has it up to Python 3.11.
    assert episode([0.1] * 10).total_reward == 1.0


@pytest.mark.parametrize("failure", [None, FAILURE])
def test_a_report_is_read_back_from_its_json(failure: Failure | None) -> None:
    report = Report.of([episode([1.0], failure=failure)], id="game:A", policy="expert", seed=3)
    read = Report.from_json(json.loads(json.dumps(report.as_json())))

    # Reports are compared as text, because NaN, the success where all episodes failed, is not equal to itself.
    assert repr(read) == repr(report)
