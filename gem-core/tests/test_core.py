"""The contract: steps, generators, wrappers and snapshots."""

import pickle
from typing import Any

import pytest
from sample_envs import Counted, Loud, Sum

from gem.core import Env, Step
from gem.errors import ConfigError, EpisodeOver, SnapshotError


def play(env: Env, actions: list[str]) -> list[Step]:
    return [env.step(action) for action in actions]


def play_on(env: Env, turns: int = 4) -> list[object]:
    """What the next turns bring, a random and an expert action in turn."""
    seen: list[object] = []
    for _ in range(turns):
        seen.append(env.step(env.sample_action()))
        seen.append(env.step(env.expert_action() or ""))
        if seen[-1].done:
            break
    return seen


def test_a_step_unpacks_like_gymnasiums_five() -> None:
    observation, reward, terminated, truncated, info = Step("seen", 0.5, True, False, {"success": True})

    assert (observation, reward, terminated, truncated, info) == ("seen", 0.5, True, False, {"success": True})


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Step.ongoing("o", 1.0, clue=2), ("o", 1.0, False, False, {"clue": 2})),
        (Step.final("o", 1.0, success=True, clue=2), ("o", 1.0, True, False, {"success": True, "clue": 2})),
        (Step.cut_off("o", 1.0, clue=2), ("o", 1.0, False, True, {"success": False, "clue": 2})),
    ],
)
def test_a_step_is_ongoing_final_or_cut_off(step: Step, expected: tuple[object, ...]) -> None:
    assert step == expected
    assert step.done == (step.terminated or step.truncated)


def test_equal_seeds_give_equal_episodes_and_others_differ() -> None:
    def episode(seed: int) -> list[object]:
        env = Sum(rounds=6, largest=10**6)
        return [env.reset(seed=seed), *play_on(env, 6)]

    assert episode(1) == episode(1)
    assert episode(1) != episode(2)


def test_without_a_seed_the_generators_continue() -> None:
    def starts(env: Env) -> list[object]:
        return [env.reset(seed=1)[0], env.reset()[0], env.reset()[0]]

    first = starts(Sum(largest=10**6))

    assert len(set(first)) == 3
    assert starts(Sum(largest=10**6)) == first


def test_an_env_that_never_got_a_seed_starts_anywhere() -> None:
    assert Sum(largest=10**9).reset() != Sum(largest=10**9).reset()


def test_sampling_actions_does_not_change_the_world() -> None:
    quiet, sampled = Sum(rounds=5), Sum(rounds=5)
    quiet.reset(seed=3)
    sampled.reset(seed=3)

    for _ in range(5):
        assert len({sampled.sample_action() for _ in range(20)}) > 1
        assert quiet.step(quiet.expert_action()) == sampled.step(sampled.expert_action())


def test_wrappers_apply_from_the_inside_out_and_the_rest_goes_through() -> None:
    env = Loud(Counted(Sum(rounds=2)))
    first, _ = env.reset(seed=0)

    assert first.startswith("1: The next number is ")
    assert env.step("\\boxed{0}").observation == "2: WRONG."
    assert isinstance(env.unwrapped, Sum)
    assert env.rounds == 2
    assert env.rng is env.unwrapped.rng
    assert env.step(env.expert_action()).reward == 1.0


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    env = Counted(Sum())

    with pytest.raises(AttributeError, match="colour"):
        _ = env.colour


def test_a_wrapper_can_be_pickled() -> None:
    env = Loud(Counted(Sum()))
    env.reset(seed=0)

    assert play_on(pickle.loads(pickle.dumps(env))) == play_on(env)


@pytest.mark.parametrize("turns", [0, 1, 3])
@pytest.mark.parametrize("build", [lambda: Sum(rounds=4, max_turns=9), lambda: Loud(Counted(Sum(rounds=4)))])
def test_a_snapshot_brings_back_world_counters_and_generators(build, turns: int) -> None:
    env, other = build(), build()
    env.reset(seed=5)
    play(env, ["\\boxed{0}"] * turns)
    env.sample_action()
    state = env.snapshot()
    future = play_on(env)

    env.restore(state)
    other.restore(state)

    assert play_on(env) == future
    assert play_on(other) == future


def test_a_snapshot_of_a_finished_episode_is_finished() -> None:
    env, other = Sum(), Sum()
    env.reset(seed=0)
    env.step("no box")
    other.restore(env.snapshot())

    with pytest.raises(EpisodeOver):
        other.step("\\boxed{1}")


def test_restoring_twice_from_one_snapshot_shares_nothing() -> None:
    env, first, second = Sum(), Sum(), Sum()
    env.reset(seed=0)
    state = env.snapshot()
    first.restore(state)
    second.restore(state)
    first.reset()

    assert second.rng.getstate() == env.rng.getstate() != first.rng.getstate()


def test_a_snapshot_of_another_class_or_of_nothing_is_refused() -> None:
    env = Counted(Sum())
    env.reset(seed=0)

    for wrong in (Sum().snapshot(), Loud(Sum()).snapshot(), b"", b"junk"):
        with pytest.raises(SnapshotError):
            env.restore(wrong)


def test_a_stack_that_refuses_a_snapshot_is_left_as_it_was() -> None:
    env, same = Counted(Sum()), Counted(Sum())
    env.reset(seed=0)
    same.reset(seed=0)
    other_env = Counted(Loud(Sum()))
    other_env.reset(seed=9)
    play(other_env, ["\\boxed{0}"] * 2)

    with pytest.raises(SnapshotError, match=r"Loud.*Sum"):
        env.restore(other_env.snapshot())
    assert play_on(env) == play_on(same)


def test_leaving_the_context_closes_every_layer() -> None:
    class Closing(Sum):
        closed = 0

        def close(self):
            self.closed += 1

    inner = Closing()
    with Loud(Counted(inner)) as env:
        env.reset(seed=0)

    assert inner.closed == 1


def test_a_snapshot_of_an_env_with_other_arguments_is_refused_and_changes_nothing() -> None:
    env, other = Sum(5, largest=3), Sum(rounds=5, largest=9)
    env.reset(seed=0)
    other.reset(seed=0)
    before = other.snapshot()
    with pytest.raises(SnapshotError, match="is of a Sum with largest=3, and this one has largest=9"):
        other.restore(env.snapshot())

    assert other.snapshot() == before


def test_however_the_same_arguments_were_given_a_snapshot_fits() -> None:
    env = Sum(5, 9)
    env.reset(seed=0)
    for same in (Sum(5), Sum(rounds=5), Sum(largest=9, rounds=5, max_turns=None)):
        same.restore(env.snapshot())
        assert same.total == env.total


@pytest.mark.parametrize("n", [-1, 1.5, "2", True])
def test_a_number_of_copies_that_is_none_is_refused(n: Any) -> None:
    env = Sum()
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="the number of copies, must be an integer >= 0, not"):
        env.fork(n)
    assert env.fork(0) == []
