import math

import pytest

from gem_envs_games.guess_the_number import GuessTheNumber


def started(number, **kwargs):
    env = GuessTheNumber(**kwargs)
    env.reset(seed=0)
    env.number = number
    return env


@pytest.mark.parametrize(("number", "guess"), [(1, 1), (1, 2), (2, 1), (1, 10), (10, 1), (10, 10), (5, 6), (6, 5)])
def test_the_hint_says_on_which_side_of_the_guess_the_number_lies(number, guess):
    step = started(number, max_number=10).step(f"\\boxed{{{guess}}}")
    assert step.info.get("success", False) == (guess == number)
    assert ("my number is higher than" in step.observation) == (number > guess)
    assert ("my number is lower than" in step.observation) == (number < guess)


@pytest.mark.parametrize("span", [1, 2, 3, 7, 8, 10, 50, 64])
def test_the_expert_needs_at_most_the_guesses_that_bisection_needs(span):
    bound = math.floor(math.log2(span + 1)) + 1
    needed = []
    for number in range(5, 5 + span + 1):
        env = started(number, min_number=5, max_number=5 + span, max_turns=bound)
        step = env.step(env.expert_action())
        while not step.done:
            step = env.step(env.expert_action())
        assert step.info["success"]
        needed.append(env.turn)
    assert max(needed) == bound


@pytest.mark.parametrize("guess", ["0", "-3", "11", "999999999", "1234567890", "9" * 100_000, "-" + "9" * 10])
def test_a_guess_out_of_range_is_not_malformed_but_uses_up_a_turn_and_gets_no_hint(guess):
    env = started(5, min_number=1, max_number=10)
    step = env.step(f"\\boxed{{{guess}}}")
    assert not step.done
    assert step.reward == 0
    assert "not between 1 and 10" in step.observation
    assert "higher" not in step.observation
    assert "lower" not in step.observation


def test_zeros_before_a_number_do_not_count_as_digits():
    assert started(5, max_number=10).step("\\boxed{" + "0" * 5000 + "5}").info["success"]


def test_a_last_guess_of_too_many_digits_earns_nothing():
    step = started(5, max_number=10, max_turns=1).step("\\boxed{1234567890}")
    assert (step.truncated, step.reward) == (True, 0.0)


def test_a_repeated_guess_is_called_so_and_gets_no_hint():
    env = started(5, max_number=10)
    env.step("\\boxed{3}")
    assert "guessed before" in env.step("\\boxed{3}").observation


@pytest.mark.parametrize(("guess", "reward"), [("6", 1 - 1 / 9), ("10", 1 - 5 / 9), ("0", 0.0), ("11", 0.0)])
def test_the_last_guess_earns_by_its_distance_if_it_is_in_range(guess, reward):
    step = started(5, max_number=10, max_turns=1).step(f"\\boxed{{{guess}}}")
    assert step.truncated
    assert step.reward == pytest.approx(reward)
    assert "my number was 5" in step.observation


@pytest.mark.parametrize(("guess", "reward"), [("5", 1.0), ("6", 0.0)])
def test_without_near_misses_only_the_number_is_rewarded(guess, reward):
    env = started(5, max_number=10, max_turns=2, near_misses=False)
    assert env.step("\\boxed{4}").reward == 0.0
    assert env.step(f"\\boxed{{{guess}}}").reward == reward
