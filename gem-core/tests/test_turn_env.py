"""`TurnEnv` keeps the promises that are the same for every environment."""

from typing import Any

import pytest
from sample_envs import Sum
from tool_samples import now

from gem.core import Step
from gem.errors import ConfigError, EpisodeOver, ResetNeeded
from gem.wrappers.tool_env import ToolEnv


class LastWords(Sum):
    """A `Sum` whose last turn has a reward and words of its own."""

    def _step(self, action):
        return Step.cut_off("Time is up.", 0.25, why="limit") if self.last_turn else super()._step(action)


class Picky(Sum):
    """A `Sum` that refuses any page."""

    reset_options = ("page",)

    def _reset(self, options):
        if "page" in options:
            raise LookupError(f"there is no page {options['page']}")
        return super()._reset(options)


class Stops(Sum):
    """A `Sum` that something outside of it ends at once."""

    def _step(self, action):
        return Step.cut_off("The budget is spent.")


def test_a_step_before_the_first_reset_is_refused() -> None:
    with pytest.raises(ResetNeeded, match="Sum"):
        Sum().step("\\boxed{1}")


@pytest.mark.parametrize("action", ["no box", ""])
def test_a_step_after_the_end_is_refused_until_the_next_reset(action: str) -> None:
    env = Sum()
    env.reset(seed=0)
    step = env.step(action)

    assert step == Step.final("There is no box.", -0.1, success=False, malformed=True)
    with pytest.raises(EpisodeOver, match="the episode has ended"):
        env.step(action)
    env.reset()
    assert not env.step("\\boxed{0}").done


def test_the_turn_limit_truncates_without_success() -> None:
    env = Sum(rounds=9, max_turns=3)
    env.reset(seed=0)
    steps = [env.step(env.expert_action()) for _ in range(3)]

    assert [(step.terminated, step.truncated) for step in steps] == [(False, False), (False, False), (False, True)]
    assert steps[-1].reward == 1.0
    assert steps[-1].info["success"] is False
    assert steps[-1].observation.startswith("The next number is ")
    with pytest.raises(EpisodeOver):
        env.step("\\boxed{1}")


def test_a_task_that_ends_on_the_last_turn_is_terminated_and_not_truncated() -> None:
    env = Sum(rounds=3, max_turns=3)
    env.reset(seed=0)
    *_, last = [env.step(env.expert_action()) for _ in range(3)]

    assert (last.terminated, last.truncated, last.info["success"]) == (True, False, True)


def test_the_last_turn_may_have_a_reward_of_its_own() -> None:
    env = LastWords(max_turns=2)
    env.reset(seed=0)

    assert not env.step("\\boxed{0}").done
    assert env.step("\\boxed{0}") == Step.cut_off("Time is up.", 0.25, why="limit")


def test_an_episode_that_is_cut_off_before_the_limit_is_over() -> None:
    env = Stops(max_turns=5)
    env.reset(seed=0)
    env.step("anything")

    with pytest.raises(EpisodeOver):
        env.step("anything")


def test_without_a_limit_no_turn_is_the_last() -> None:
    env = Sum()
    env.reset(seed=0)

    assert not any(env.step("\\boxed{0}").done for _ in range(200))
    assert env.turn == 200


def test_a_reset_counts_turns_anew() -> None:
    env = Sum(max_turns=2)
    for seed in range(3):
        env.reset(seed=seed)
        assert [env.step("\\boxed{0}").truncated for _ in range(2)] == [False, True]


def test_a_reset_that_fails_begins_no_episode() -> None:
    env = Picky()
    with pytest.raises(LookupError):
        env.reset(seed=0, options={"page": 7})
    with pytest.raises(ResetNeeded):
        env.step("\\boxed{0}")

    env.reset(seed=0)
    with pytest.raises(LookupError):
        env.reset(options={"page": 7})
    with pytest.raises(ResetNeeded):
        env.step("\\boxed{0}")


@pytest.mark.parametrize("action", [5, None, ["\\boxed{1}"], b"\\boxed{1}"])
def test_an_action_that_is_not_text_is_refused_and_takes_no_turn(action: Any) -> None:
    for env in (Sum(), ToolEnv(Sum(), [now])):
        env.reset(seed=0)
        with pytest.raises(TypeError, match=r"an action is the text of the agent's whole reply, not "):
            env.step(action)
        assert env.unwrapped.turn == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pages": 7}, r"Picky: reset takes no option 'pages'\. Did you mean 'page'\? It takes: page\."),
        ({5: 7}, "Picky: reset takes no option 5"),
        ("page", "options must be a mapping of names to values, not 'page'"),
    ],
)
def test_an_unknown_option_is_refused_and_the_episode_continues(options: Any, message: str) -> None:
    env = Picky()
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=message):
        env.reset(options=options)
    with pytest.raises(ConfigError, match=r"Sum: reset takes no option 'page'\. It takes: none\."):
        Sum().reset(options={"page": 7})

    assert env.step("\\boxed{0}").observation == "Wrong."
