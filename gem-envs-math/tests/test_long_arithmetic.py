"""`math:LongArithmetic-v0`: the question, the grade, and the expert with a tool and without."""

import re

import pytest

import gem
from gem.core import Step
from gem.tool import tool
from gem.wrappers.tool_env import ToolEnv
from gem_envs_math.long_arithmetic import LongArithmetic


@tool
def python(code: str) -> str:
    """Work out a product, as `print(first * second)`."""
    first, second = re.fullmatch(r"print\(([0-9]+) \* ([0-9]+)\)", code).groups()
    return str(int(first) * int(second))


@pytest.mark.parametrize(("id", "digits"), [("math:LongArithmetic-v0", 20), ("math:LongArithmetic-v0-easy", 4)])
def test_the_product_of_the_factors_in_the_question_is_right_and_they_have_the_right_length(id, digits):
    env = gem.make(id)
    for seed in range(100):
        question, _ = env.reset(seed=seed)
        first, second = re.match(r"What is ([0-9]+) \* ([0-9]+)\?\n", question).groups()
        assert (len(first), len(second)) == (digits, digits)
        assert env.step(f"\\boxed{{{int(first) * int(second)}}}") == Step.final(
            "That is right.", 1.0, success=True, steps=digits**2
        )


def test_another_integer_is_wrong_and_no_observation_gives_the_right_one():
    env = LongArithmetic(digits=500)
    env.reset(seed=0)
    first, second = env.factors
    assert env.step(f"\\boxed{{{first * second + 1}}}") == Step.final(
        "That is wrong.", 0.0, success=False, steps=env.digits**2
    )


@pytest.mark.parametrize(("costs", "reward"), [(False, 0.0), (True, -0.1)])
def test_a_reply_without_an_integer_is_malformed(costs, reward):
    env = LongArithmetic(use_format_error_reward=costs)
    env.reset(seed=0)
    step = env.step("I need a calculator.")
    assert (step.reward, step.info) == (reward, {"success": False, "malformed": True})


def test_random_answers_are_of_plausible_size_and_wrong():
    env = LongArithmetic(digits=4)
    for seed in range(100):
        env.reset(seed=seed)
        action = env.sample_action()
        assert 1_000_000 <= int(action[7:-1]) < 100_000_000
        assert not env.step(action).info["success"]


def test_the_expert_calls_python_if_there_is_such_a_tool_and_then_answers():
    env = ToolEnv(LongArithmetic(digits=30), [python])
    env.reset(seed=0)
    first, second = env.unwrapped.factors
    assert f"print({first} * {second})" in env.expert_action()
    step = env.step(env.expert_action())
    assert not step.done
    assert str(first * second) in step.observation
    assert env.step(env.expert_action()).info["success"]


def test_random_play_calls_python_if_there_is_such_a_tool_and_otherwise_answers():
    env = ToolEnv(LongArithmetic(digits=4), [python], max_calls=None)
    called = []
    for seed in range(40):
        env.reset(seed=seed)
        while not (step := env.step(env.sample_action())).done:
            assert step.info["tool"] == {"name": "python", "status": "ok"}
        called.append(step.info["tool_success_counter"])
        assert "malformed" not in step.info
    assert {0, 1, 2} <= set(called)

    alone = LongArithmetic(digits=4)
    alone.reset(seed=0)
    assert all(alone.sample_action().startswith("\\boxed{") for _ in range(20))


def test_the_expert_without_a_tool_answers_at_once():
    env = LongArithmetic()
    env.reset(seed=0)
    assert env.step(env.expert_action()).info["success"]
