"""The wrappers, each by itself: what they put into observation, reward and info."""

from functools import partial

import pytest

from gem.core import Env, Step, Wrapper
from gem.errors import EpisodeOver
from gem.turn_env import TurnEnv
from gem.wrappers import (
    Concat,
    ConcatChat,
    ConcatChatOnReset,
    ConcatWithAction,
    EpisodeTracking,
    TimeLimit,
    TurnLimit,
)


class Parrot(TurnEnv):
    """Says back what it hears, without end; "done" wins. The reward is the length of the action."""

    def __init__(self, first="Say something.", max_turns=None):
        super().__init__(max_turns=max_turns)
        self.first = first

    def _reset(self, options):
        return self.first

    def _step(self, action):
        if action == "done":
            return Step.final("Bye.", 1.0, success=True)
        return Step.ongoing(action, float(len(action)), turn=self.turn)

    def sample_action(self):
        return f"word {self.action_rng.randint(0, 99)}"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("gem.wrappers.limits.monotonic", clock)
    return clock


def test_an_episode_ends_at_the_turn_limit_and_not_before() -> None:
    env = TurnLimit(Parrot(), max_turns=3)
    for _ in range(2):
        env.reset(seed=0)
        steps = [env.step("a"), env.step("bc"), env.step("d")]

        assert [step.done for step in steps] == [False, False, True]
        assert steps[-1] == Step("d", 1.0, False, True, {"turn": 3, "success": False})
        with pytest.raises(EpisodeOver):
            env.step("e")


def test_an_episode_that_ends_by_itself_at_the_limit_is_terminated() -> None:
    env = TurnLimit(Parrot(), max_turns=2)
    env.reset(seed=0)
    env.step("a")

    assert env.step("done") == Step("Bye.", 1.0, True, False, {"success": True})
    with pytest.raises(EpisodeOver):
        env.step("e")


def test_a_limit_overwrites_a_success_that_an_ongoing_step_reports() -> None:
    class Eager(Parrot):
        def _step(self, action):
            return Step.ongoing("so far so good", success=True)

    env = TurnLimit(Eager(), max_turns=1)
    env.reset(seed=0)

    assert env.step("a").info == {"success": False}


def test_an_episode_ends_with_the_first_step_after_its_time(clock: Clock) -> None:
    env = TimeLimit(Parrot(), seconds=10)
    for _ in range(2):
        clock.now += 100
        env.reset(seed=0)
        clock.now += 9
        assert not env.step("a").done
        clock.now += 1
        assert env.step("b") == Step("b", 1.0, False, True, {"turn": 2, "success": False})
        with pytest.raises(EpisodeOver):
            env.step("c")


def test_the_time_between_snapshot_and_restore_does_not_count(clock: Clock) -> None:
    env, other = (TimeLimit(Parrot(), seconds=10) for _ in range(2))
    env.reset(seed=0)
    clock.now += 6
    state = env.snapshot()
    for each, now in ((env, 2000.0), (other, 5.0)):  # later, and on another machine
        clock.now = now
        each.restore(state)
        clock.now += 3
        assert not each.step("a").done
        clock.now += 1
        assert each.step("b").truncated


def test_the_real_clock_goes_forward() -> None:
    env = TimeLimit(Parrot(), seconds=1e-9)
    env.reset(seed=0)

    assert env.step("a").truncated


def test_tracking_counts_steps_and_rewards_of_this_episode_and_the_last() -> None:
    env = EpisodeTracking(Parrot())
    nothing = {"prev_ep_step_counter": 0, "prev_ep_cumulative_rewards": 0.0}

    assert env.reset(seed=0)[1] == {"step_counter": 0, "cumulative_rewards": 0.0, **nothing}
    assert env.step("abc").info == {"turn": 1, "step_counter": 1, "cumulative_rewards": 3.0}
    assert env.step("de").info == {"turn": 2, "step_counter": 2, "cumulative_rewards": 5.0}
    assert env.reset()[1] == {
        "step_counter": 0,
        "cumulative_rewards": 0.0,
        "prev_ep_step_counter": 2,
        "prev_ep_cumulative_rewards": 5.0,
    }


def test_tracking_counts_what_it_sees_at_its_place() -> None:
    class Double(Wrapper):
        def step(self, action: str) -> Step:
            step = self.env.step(action)
            return step._replace(reward=2 * step.reward)

    for wrappers, expected in (([Double, EpisodeTracking], 6.0), ([EpisodeTracking, Double], 3.0)):
        env: Env = Parrot()
        for wrapper in wrappers:
            env = wrapper(env)
        env.reset(seed=0)
        assert env.step("abc").info["cumulative_rewards"] == expected


@pytest.mark.parametrize("wrapper", [EpisodeTracking, partial(TurnLimit, max_turns=1)])
def test_the_envs_own_info_is_left_as_it_is(wrapper) -> None:
    given = {"turn": 1}

    class Fixed(Parrot):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed)[0], given

        def _step(self, action):
            return Step("same", 1.0, False, False, given)

    env = wrapper(Fixed())
    env.reset(seed=0)
    env.step("a")

    assert given == {"turn": 1}


@pytest.mark.parametrize(
    "wrapper",
    [
        EpisodeTracking,
        partial(TurnLimit, max_turns=9),
        partial(TimeLimit, seconds=9),
        Concat,
        ConcatWithAction,
        ConcatChat,
        ConcatChatOnReset,
    ],
)
def test_reset_options_and_all_else_go_through(wrapper) -> None:
    class Choosing(Parrot):
        reset_options = ("first",)

        def _reset(self, options):
            return options["first"]

    env = wrapper(Choosing())

    assert "chosen" in env.reset(seed=0, options={"first": "chosen"})[0]
    assert env.first == "Say something."
    assert env.expert_action() is None
    assert env.sample_action().startswith("word ")
