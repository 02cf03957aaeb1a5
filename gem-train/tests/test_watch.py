"""Runs that learn nothing or get worse are detected, and others are not."""

import math

import pytest

from gem_train.build import make_watch
from gem_train.config.training import load_config
from gem_train.runs.watch import Finding

GOOD = {"success": 0.5, "return": 0.4, "malformed": 0.02, "cut_replies": 0.0, "entropy": 0.4, "signal": 1.0}


def findings(*stretches: tuple[int, dict[str, float]], **settings: object) -> list[tuple[int, Finding]]:
    """The findings of a run; each stretch is a number of steps and their metrics."""
    watch = make_watch(load_config([{"id": "core:Echo-v0"}, settings]), 512, has_expert=True)
    lines = [{**GOOD, **change} for steps, change in stretches for _ in range(steps)]
    return [(step, found) for step, line in enumerate(lines, start=1) if (found := watch.see(line)) is not None]


@pytest.mark.parametrize(
    ("stretches", "step", "kind", "words"),
    [
        ([(20, {"success": 0.0, "return": 0.0, "signal": 0.0})], 10, "collapse", "nothing to learn from"),
        ([(5, {}), (20, {"success": 1.0, "return": 1.0, "signal": 0.0})], 15, "solved", "every episode of the last 10"),
        ([(5, {}), (20, {"entropy": math.log(512) - 0.1})], 6, "collapse", "6.14 nats per token, 6.24 is"),
        ([(5, {}), (20, {"entropy": 0.001})], 6, "warning", "larger optim.entropy (now 0.02)"),
        # With a critic, or without a baseline, there is a signal where nothing differs.
        ([(20, {"success": 0.0, "alike": 1.0})], 10, "collapse", "nothing to learn from. Give"),
        ([(5, {}), (20, {"success": 1.0, "alike": 1.0})], 15, "solved", "every episode of the last 10"),
        ([(5, {"engine_gap": 0.005}), (9, {"engine_gap": 0.5, "engine_gap_max": 4.0})], 6, "collapse", "0.5 nats from"),
        ([(20, {}), (20, {"malformed": 0.9})], 26, "collapse", "replies lost their form"),
        ([(20, {}), (20, {"success": 0.2})], 29, "warning", "success fell from 0.50 to 0.23"),
        ([(20, {"success": 0.2}), (10, {"success": 0.9}), (20, {"success": 0.3})], 38, "warning", "from 0.90 to 0.42"),
    ],
)
def test_a_run_that_goes_wrong_is_detected(stretches, step, kind, words):
    found = findings(*stretches)
    assert [(where, finding.kind) for where, finding in found] == [(step, kind)]
    assert words in found[0][1].text


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [({}, 0.01), ({"dtype": "bfloat16"}, 0.1), ({"dtype": "bfloat16", "watch": {"max_engine_gap": 0.02}}, 0.02)],
)
def test_how_far_an_engine_may_be_off_depends_on_the_precision(settings, allowed):
    gap = {"engine_gap_max": 4.0}
    assert findings((20, {**gap, "engine_gap": allowed}), **settings) == []
    [(step, found)] = findings((5, {}), (9, {**gap, "engine_gap": 1.1 * allowed}), **settings)
    assert step == 6
    assert f"watch.max_engine_gap, now {allowed:g})" in found.text


def test_success_that_is_lost_stops_the_run_unless_a_curriculum_made_the_env_harder():
    def kinds(level: float) -> list[str]:
        return [found.kind for _, found in findings((20, {"level": 0.0}), (20, {"success": 0.0, "level": level}))]

    assert kinds(0.0) == ["warning", "collapse"]
    assert kinds(1.0) == ["warning"]


def test_an_algorithm_may_leave_out_the_metrics_of_the_updates():
    watch = make_watch(load_config([{"id": "core:Echo-v0"}]), 512, has_expert=True)
    own = {name: GOOD[name] for name in ("success", "return", "malformed", "cut_replies")}
    assert [watch.see(own) for _ in range(20)] == [None] * 20


@pytest.mark.parametrize(
    "stretches",
    [
        [(40, {})],
        [(3, {"entropy": 6.2, "malformed": 0.9, "success": 0.0}), (40, {"entropy": 5.9})],
        [(9, {"signal": 0.0}), (1, {}), (9, {"signal": 0.0})],
        [(20, {}), (20, {"entropy": 0.001, "success": 0.97})],
        [(20, {"success": 0.02}), (20, {"success": 0.0})],
        [(20, {"success": 0.8}), (20, {"success": 0.6})],
        [(40, {"success": 1.0, "signal": 0.0, "level": 0.0})],  # a curriculum is about to make the env harder
        [(9, {"alike": 1.0}), (1, {}), (9, {"alike": 1.0})],
    ],
)
def test_ordinary_fluctuations_are_not_reported(stretches):
    assert findings(*stretches) == []


def test_the_advice_fits_the_settings():
    silent = 10, {"signal": 0.0, "success": 0.0, "cut_replies": 0.9}
    [(_, found)] = findings(silent, warmup={"policy": "random"}, rollout={"max_new_tokens": 6})
    assert "--set warmup.policy=expert" in found.text
    assert "rollout.max_new_tokens, now 6" in found.text
    [(_, found)] = findings(silent, warmup={"steps": 0})
    assert "--set warmup.steps=600" in found.text
