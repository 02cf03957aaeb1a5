"""`code:Basics-v0`: questions, programs, rewards and arguments."""

import re

import pytest

import gem
from gem.answers.parsing import fenced_code
from gem.core import Step
from gem.errors import ConfigError, Fault
from gem_envs_code.basics import Basics
from gem_sandbox import Sandbox
from gem_sandbox.slot import SlotLost

SUM = 0


def step_on(index, reply):
    env = Basics()
    env.reset(seed=0, options={"index": index})
    return env.step(reply)


def test_the_expert_solves_every_task():
    env = gem.make("code:Basics-v0")
    for index in range(len(Basics().rows)):
        env.reset(options={"index": index})
        step = env.step(env.expert_action())
        assert re.fullmatch(r"Your program passed all [0-9]+ tests\.", step.observation)
        assert step[1:] == (1.0, True, False, {"success": True})


def test_the_question_holds_the_example_and_hides_the_tests_and_the_solution():
    env = Basics()
    for index, task in enumerate(env.rows):
        question, _ = env.reset(options={"index": index})
        assert task.statement in question
        assert f"Example input:\n{task.example.input}\nExample output:\n{task.example.output}" in question
        assert task.solution not in question
        assert sum(case.input in question for case in task.tests) <= 1


def test_seeds_choose_among_all_tasks():
    env = Basics()
    assert {env.reset(seed=seed)[0] for seed in range(200)} == {env._question(task) for task in env.rows}


def test_the_reward_is_the_share_of_tests_passed():
    # Two of the hidden tests of "sum" are of one number, and one of two that add up to 0.
    step = step_on(SUM, "```python\nfirst, *rest = input().split()\nprint(first if not rest else 0)\n```")
    assert step == Step(
        "Your program passed 2 of 7 tests. The first to fail was test 2: wrong output.",
        2 / 7,
        True,
        False,
        {"success": False},
    )


def test_the_last_block_is_the_program():
    right = "print(sum(map(int, input().split())))"
    assert step_on(SUM, f"First:\n```\nprint(1)\n```\nNo:\n```python\n{right}\n```\nDone.").info["success"]
    assert not step_on(SUM, f"```python\n{right}\n```\n```\nprint('x')\n```").info["success"]


@pytest.mark.parametrize("reply", ["", "print(1)", "```python\nprint(1)", "text ```print(1)```", "\ud800"])
def test_a_reply_without_a_block_is_malformed(reply):
    assert step_on(SUM, reply) == Step(
        "Your reply has no fenced code block.", -0.1, True, False, {"success": False, "malformed": True}
    )


def test_the_observation_says_that_a_program_crashed_and_nothing_of_the_test():
    step = step_on(SUM, "```\nimport sys\nint('x')\n```")
    assert step.reward == 0.0
    assert step.observation == ("Your program passed 0 of 7 tests. The first to fail was test 1: an error.")


def test_sampled_actions_are_programs_that_run():
    env = Basics()
    env.reset(seed=1)
    samples = {env.sample_action() for _ in range(100)}
    assert len(samples) > 5
    for sample in samples:
        assert re.fullmatch(r"print\('[a-z0-9]+'\)", fenced_code(sample))
    step = env.step(samples.pop())
    assert "malformed" not in step.info
    assert "error" not in step.observation


def test_a_snapshot_does_not_contain_the_sandbox():
    env, other = Basics(), Basics()
    env.reset(seed=9)
    with Sandbox(slots=1) as box:
        other._grader.box = box
        other.restore(env.snapshot())
        other.step("```\nprint(1)\n```")
        assert other._grader.box is box is not env._grader.box


def test_if_no_sandbox_is_strong_enough_the_step_raises_and_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    env = gem.make("code:Basics-v0", min_level="bubblewrap")
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"(?s)apt-get install bubblewrap.*accept less by name.*min_level"):
        env.step("```\nprint(1)\n```")


def test_a_sandbox_that_fails_under_a_program_is_a_fault(monkeypatch):
    env = Basics()
    env.reset(seed=0)

    def fail(*_):
        raise SlotLost("it died", "landlock")

    monkeypatch.setattr(Sandbox, "player", lambda *_: fail)
    with pytest.raises(Fault, match="it died"):
        env.step("```\nprint(1)\n```")
