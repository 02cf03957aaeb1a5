"""`math:Arithmetic-v0`: questions, answers, rewards and arguments."""

import re

import pytest

import gem
from gem.answers.number import read_number
from gem.core import Step
from gem_envs_math.arithmetic import Arithmetic

IDS = ("math:Arithmetic-v0", "math:Arithmetic-v0-easy", "math:Arithmetic-v0-hard")


def result_of(question):
    """The result by Python's own arithmetic, from the question alone."""
    return eval(re.match(r"What is (.*)\?\n", question)[1])


@pytest.mark.parametrize("id", IDS)
def test_the_expert_answers_with_the_result_of_the_expression_in_the_question(id):
    env = gem.make(id)
    for seed in range(200):
        question, _ = env.reset(seed=seed)
        assert env.expert_action() == f"\\boxed{{{result_of(question)}}}"
        assert env.step(env.expert_action()) == Step(
            "That is right.", 1.0, True, False, {"success": True, "steps": env.unwrapped.operands - 1}
        )


@pytest.mark.parametrize("id", IDS)
def test_samples_are_well_formed_and_of_many_sizes(id):
    env = gem.make(id)
    samples = set()
    for seed in range(100):
        env.reset(seed=seed)
        samples.add(env.sample_action())
        assert "malformed" not in env.step(env.sample_action()).info
    assert len(samples) > 15
    assert all(read_number(re.fullmatch(r"\\boxed\{(.*)\}", sample)[1]) is not None for sample in samples)


@pytest.mark.parametrize(
    ("form", "success"),
    [
        ("I think \\boxed{1} at first, then \\boxed{%s}.", True),
        ("\\boxed{ $%s$ }", True),
        ("\\fbox{%s}", True),
        ("\\boxed{%s}, which stands in \\boxed{}.", True),
        ("\\boxed{x = %s.0}", True),
        ("\\boxed{%s} or rather \\boxed{123456789}", False),
        ("\\boxed{%s} or rather \\boxed{4.5}", False),
        ("\\boxed{%s} or rather \\boxed{something else}", False),
    ],
)
def test_the_last_box_is_graded(form, success):
    env = Arithmetic()
    question, _ = env.reset(seed=5)
    step = env.step(form % result_of(question))
    assert (step.reward, step.info["success"]) == (float(success), success)


def test_a_wrong_answer_earns_0_and_no_observation_gives_the_result():
    env = Arithmetic()
    right = result_of(env.reset(seed=5)[0])
    assert env.step(f"\\boxed{{{right + 1}}}") == Step(
        "That is wrong.", 0.0, True, False, {"success": False, "steps": 2}
    )


@pytest.mark.parametrize(("use_format_error_reward", "reward"), [(False, 0.0), (True, -0.1)])
def test_a_reply_without_an_integer_in_a_box_is_malformed(use_format_error_reward, reward):
    env = Arithmetic(use_format_error_reward=use_format_error_reward)
    for reply in ("", "42", "\\boxed{}", "\\boxed{x}", "\\boxed{4 or 5}", "\\boxed{42"):
        env.reset(seed=5)
        step = env.step(reply)
        assert step.observation == "Your reply has no integer inside \\boxed{}."
        assert (step.reward, step.terminated, step.info) == (reward, True, {"success": False, "malformed": True})


def test_the_arguments_determine_the_form_of_the_expression():
    question, _ = Arithmetic(operands=8, digits=1, operators="*").reset(seed=0)
    assert re.match(r"What is [1-9]( \* [1-9]){7}\?\n", question)
