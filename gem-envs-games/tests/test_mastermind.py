from itertools import permutations, product
from random import Random

import pytest

from gem_envs_games.mastermind import Mastermind
from gem_envs_games.mastermind.solver import Marked, best_guess, consistent_codes, pegs


def pegs_by_hand(code, guess):
    """As one marks on the board: pegs for places first, then pair what is left, crossing out what is used."""
    code, guess = list(code), list(guess)
    black = white = 0
    for place in range(len(code)):
        if code[place] == guess[place]:
            black += 1
            code[place], guess[place] = None, None
    for number in guess:
        if number is not None and number in code:
            white += 1
            code[code.index(number)] = None
    return black, white


def started(code, **kwargs):
    env = Mastermind(code_length=len(code), **kwargs)
    env.reset(seed=0)
    env.code = tuple(code)
    return env


def box_of(*numbers):
    return f"\\boxed{{{' '.join(map(str, numbers))}}}"


@pytest.mark.parametrize(("numbers", "length"), [(6, 1), (6, 2), (5, 3)])
def test_pegs_are_those_of_the_board_game_for_every_code_and_guess(numbers, length):
    codes = list(product(range(1, numbers + 1), repeat=length))
    for code in codes:
        for guess in codes:
            assert pegs(code, guess) == pegs_by_hand(code, guess)


@pytest.mark.parametrize(
    ("code", "guess", "black", "white"),
    [
        ((2, 5, 3, 2), (3, 5, 2, 5), 1, 2),
        ((1, 1, 2, 2), (1, 1, 2, 2), 4, 0),
        ((1, 2, 3, 4), (4, 3, 2, 1), 0, 4),
        ((1, 1, 1, 2), (2, 2, 2, 1), 0, 2),
        ((1, 1, 2, 3), (1, 4, 1, 1), 1, 1),
        ((1, 2, 3, 4), (5, 6, 5, 6), 0, 0),
    ],
)
def test_a_guess_is_answered_with_its_pegs_and_they_stay_on_the_board(code, guess, black, white):
    step = started(code, duplicate_numbers=True).step(box_of(*guess))
    answer = f"{' '.join(map(str, guess))}: {black} black, {white} white"
    assert step.observation.startswith(f"At turn 1, you guessed {answer}.")
    assert f"Guesses so far:\n{answer}" in step.observation


def test_black_pegs_earn_only_what_no_guess_earned_before():
    env = started((1, 2, 3, 4))
    guesses = [(1, 2, 5, 6), (5, 2, 6, 1), (1, 2, 3, 5), (1, 2, 3, 4)]
    assert [env.step(box_of(*guess)).reward for guess in guesses] == [0.5, 0, 0.25, 0.25]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("1 2 3", "length 3, and my code has length 4"),
        ("1234", "length 1, and my code has length 4"),
        ("1 2 3 4 5", "length 5, and my code has length 4"),
        ("0 1 2 3", "not from 1 to 6"),
        ("-1 1 2 3", "not from 1 to 6"),
        ("1 2 3 7", "not from 1 to 6"),
        ("1 2 3 3", "same number twice"),
        ("5,6 , 1 2", "guessed 5 6 1 2 before"),
    ],
)
def test_a_refused_guess_uses_up_a_turn_says_why_and_gets_no_pegs(reply, reason):
    env = started((1, 2, 3, 4))
    env.step(box_of(5, 6, 1, 2))
    step = env.step(f"\\boxed{{{reply}}}")
    assert reason in step.observation
    assert (step.reward, step.done, env.turn, len(env.marked)) == (0, False, 2, 1)


@pytest.mark.parametrize("repeats", [False, True])
def test_codes_keep_the_rule_on_repeats_and_the_example_is_never_the_code(repeats):
    env = Mastermind(2, 3, duplicate_numbers=repeats)
    codes = set()
    for seed in range(200):
        observation, _ = env.reset(seed=seed)
        assert box_of(*env.code) not in observation
        assert ("refused: " in env.step(box_of(1, 1)).observation) != repeats
        codes.add(env.code)
    assert codes == set(product((1, 2, 3), repeat=2) if repeats else permutations((1, 2, 3), 2))


@pytest.mark.parametrize("repeats", [False, True])
def test_codes_of_games_with_more_codes_than_are_listed_keep_the_rules_too(repeats):
    env = Mastermind(6, 10, duplicate_numbers=repeats)
    codes = set()
    for seed in range(20):
        env.reset(seed=seed)
        assert set(env.code) <= set(range(1, 11))
        assert len(env.code) == 6
        assert repeats or len(set(env.code)) == 6
        codes.add(env.code)
    assert len(codes) == 20


def test_a_lost_game_gives_the_code():
    step = started((1, 2, 3, 4), max_turns=1).step(box_of(4, 3, 2, 1))
    assert step.truncated
    assert "My code was 1 2 3 4. That was your last turn" in step.observation


@pytest.mark.parametrize("repeats", [False, True])
def test_the_consistent_codes_are_those_that_brute_force_finds(repeats):
    every = list(product(range(1, 6), repeat=3) if repeats else permutations(range(1, 6), 3))
    rng = Random(0)
    for _ in range(60):
        secret, *guesses = rng.choices(every, k=rng.randint(1, 4))
        marked = tuple(Marked(guess, *pegs_by_hand(secret, guess)) for guess in guesses)
        want = {code for code in every if all(pegs_by_hand(code, m.guess) == (m.black, m.white) for m in marked)}
        found = list(consistent_codes(3, 5, repeats, marked))
        assert len(found) == len(want)
        assert set(found) == want
        assert best_guess(3, 5, repeats, marked) in want


@pytest.mark.parametrize(("length", "numbers", "repeats", "most"), [(2, 6, False, 5), (4, 6, True, 6)])
def test_the_expert_finds_every_code_in_few_guesses(length, numbers, repeats, most):
    every = product(range(1, numbers + 1), repeat=length) if repeats else permutations(range(1, numbers + 1), length)
    for code in list(every)[::31]:
        env = started(code, num_numbers=numbers, duplicate_numbers=repeats, max_turns=most)
        step = env.step(env.expert_action())
        while not step.done:
            step = env.step(env.expert_action())
        assert step.info["success"]
