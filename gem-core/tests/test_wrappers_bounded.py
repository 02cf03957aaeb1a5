"""`bounded_shaping`: what is earned on the way never outweighs the end."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

import gem
from gem.core import Step
from gem.tool import ToolCall, tool
from gem.wrappers import BoundedShaping
from gem.wrappers.tool_env import ToolEnv


class Paid(gem.TurnEnv):
    """Each reply is its reward; "win" and "lose" end the episode."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        return ""

    def _step(self, action: str) -> Step:
        if action in ("win", "lose"):
            return Step.final("", float(action == "win"), success=action == "win")
        return Step.ongoing("", float(action))

    def sample_action(self) -> str:
        return "0"


def returned(env: gem.Env, *replies: str) -> float:
    env.reset(seed=0)
    return sum(env.step(reply).reward for reply in replies)


def test_no_failure_returns_more_than_a_success() -> None:
    env = BoundedShaping(Paid())
    ways = [way for length in range(5) for way in product(("0.3", "-0.2", "0.05", "-5"), repeat=length)]

    worst_success = min(returned(env, *way, "win") for way in ways)
    best_failure = max(returned(env, *way, "lose") for way in ways)

    assert max(returned(Paid(), *way, "lose") for way in ways) > min(returned(Paid(), *way, "win") for way in ways)
    assert worst_success == pytest.approx(0.6)
    assert best_failure == pytest.approx(0.4)


def test_rewards_within_the_bounds_stay_as_they_are_and_others_are_named() -> None:
    env = BoundedShaping(Paid(), most=0.25)
    env.reset(seed=0)
    steps = [env.step(reply) for reply in ("0.2", "0.2", "-0.1", "-1", "0.5")]

    assert [step.reward for step in steps] == pytest.approx([0.2, 0.05, -0.1, -0.4, 0.5])
    assert [step.info.get("unbounded_reward") for step in steps] == [None, 0.2, None, -1.0, None]
    state = env.snapshot()
    assert env.step("1").reward == pytest.approx(0)
    env.restore(state)
    assert env.step("1").reward == pytest.approx(0)
    env.reset(seed=0)
    assert env.step("0.25").reward == 0.25


@tool
def look() -> str:
    """Look something up."""
    return "nothing"


def test_five_rewarded_calls_and_a_wrong_answer_return_less_than_one_call_and_the_right_one() -> None:
    paid = ToolEnv(Paid(), [look], tool_reward=0.3)
    call = paid.format.write(ToolCall("look", {}), paid.tools)

    assert returned(paid, *[call] * 5, "lose") > returned(paid, call, "win")
    bounded = BoundedShaping(paid)
    assert returned(bounded, *[call] * 5, "lose") < returned(bounded, call, "win")
