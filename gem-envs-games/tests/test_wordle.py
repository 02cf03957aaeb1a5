from collections import Counter
from itertools import product

import pytest

from gem_envs_games.replies import box
from gem_envs_games.wordle import Wordle
from gem_envs_games.wordle.solver import best_guess, marks
from gem_envs_games.words import common_words, is_word

# Marked by hand: secret, then guesses with their marks.
BY_HAND = {
    "ABBEY": "ABBEY GGGGG  KEBAB XYGYY  BABES YYGGX  ABYSS GGYXX  OPENS XXYXX  BOBBY YXGXG  EERIE YXXXX  ALLEY GXXGG",
    "SPEED": "ERASE YXXYY  STEAL GXGXX  CREPE XXGYY  ABIDE XXXYY  EERIE YYXXX  SPEED GGGGG  GEESE XYGYX  DEEDS YYGXY",
    "CRANE": "CRANE GGGGG  EERIE XXYXG  NANNY XYXGX  ARRAY YGXXX  RACER YYYYX  CACAO GYXXX  TRAIN XGGXY  ENTER YYXXY",
    "LLAMA": "LLAMA GGGGG  ALLAY YGYYX  LABEL GYXXY  SALAD XYYYX  MAMMA XYXGG  HALAL XYYYY  ALLEY YGYXX  MADAM YYXYX",
    "GEESE": "GEESE GGGGG  EERIE YGXXG  THESE XXGGG  ELEGY YXGYX  EGGED YYXYX  SEEDS YGGXX  EMCEE YXXYG",
    "ROBOT": "ROBOT GGGGG  FLOOR XXYGY  BOOST YGYXG  OTTER YYXXY  TOOTH YGYXX  MOTOR XGYGY  OVOID YXYXX  BROOM YYYGX",
    "ERROR": "ERROR GGGGG  ROARS YYXYX  ORDER YGXYG  RARER YXGYG  MIRED XXGYX  OTTER YXXYG",
    "EEL": "EEL GGG  ELL GXG  LEE YGY  ELE GYY  EYE GXY  TEE XGY  LEG YGX",
    "NOON": "NOON GGGG  ONTO YYXY  NONE GGYX  ANNA XYYX  MOON XGGG  ONCE YYXX",
}


def marks_by_counting(secret, guess):
    """From what the marks mean: greens are the equal places; of the rest of each letter's share, yellows from left."""
    answer = ["G" if a == b else "X" for a, b in zip(secret, guess, strict=True)]
    for letter in set(guess):
        share = min(Counter(secret)[letter], Counter(guess)[letter])
        greens = sum(a == b == letter for a, b in zip(secret, guess, strict=True))
        places = [i for i, b in enumerate(guess) if b == letter and answer[i] != "G"]
        for place in places[: share - greens]:
            answer[place] = "Y"
    return "".join(answer)


def started(secret, **kwargs):
    env = Wordle(word_length=len(secret), **kwargs)
    env.reset(seed=0)
    env.secret = secret
    return env


@pytest.mark.parametrize("secret", BY_HAND)
def test_a_guess_is_marked_as_by_hand(secret):
    for case in BY_HAND[secret].split("  "):
        guess, answer = case.split()
        assert marks(secret, guess) == answer
        step = started(secret, only_real_words=False).step(box(guess))
        assert step.observation.startswith(f"At turn 1, you guessed {guess} and got {answer}.")
        assert f"Guesses so far:\n{' '.join(guess)}\n{' '.join(answer)}" in step.observation


@pytest.mark.parametrize(("letters", "length"), [("ABC", 3), ("AB", 5)])
def test_every_guess_of_few_letters_is_marked_as_counting_says(letters, length):
    words = list(map("".join, product(letters, repeat=length)))
    for secret in words:
        for guess in words[::2]:
            assert marks(secret, guess) == marks_by_counting(secret, guess)


def test_a_place_earns_once_when_it_turns_green_and_the_word_earns_half():
    env = started("CRANE")
    guesses = ["TRAIN", "BRAND", "PLANE", "CRANE"]
    assert [env.step(box(guess)).reward for guess in guesses] == pytest.approx([0.2, 0.1, 0.1, 0.6])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("CRAN", "4 letters, and my word has 5"),
        ("CRANES", "6 letters, and my word has 5"),
        ("C" * 100_000, "100000 letters"),
        ("QWERT", "QWERT is not a word"),
        ("t r a,i n", "guessed TRAIN before"),
    ],
)
def test_a_refused_guess_uses_up_a_turn_says_why_and_gets_no_marks(reply, reason):
    env = started("CRANE")
    env.step(box("train"))
    step = env.step(box(reply))
    assert reason in step.observation
    assert (step.reward, step.done, env.turn, len(env.marked)) == (0, False, 2, 1)


@pytest.mark.parametrize("letters", ["ſtone", "grüne", "straße", "CRΑNE", "CRAN3", "CRAN-E"])
def test_letters_beyond_a_to_z_are_not_a_guess(letters):
    assert started("STONE").step(box(letters)).info["malformed"]


def test_without_only_real_words_any_letters_are_a_guess():
    assert "got XXGXX" in started("CRANE", only_real_words=False).step(box("zzazz")).observation


@pytest.mark.parametrize("length", [3, 5, 8])
def test_the_secret_is_a_common_word_and_the_example_another(length):
    env = Wordle(length)
    secrets = set()
    for seed in range(100):
        observation, _ = env.reset(seed=seed)
        assert env.secret in common_words(length)
        assert env.secret not in observation
        example = observation.split("example \\boxed{")[1].split("}")[0]
        assert is_word(example)
        secrets.add(env.secret)
    assert len(secrets) > 70


def test_a_lost_game_gives_the_word():
    step = started("CRANE", max_turns=1).step(box("TRAIN"))
    assert step.truncated
    assert "My word was CRANE. That was your last turn" in step.observation


@pytest.mark.parametrize("sparse", [10, pytest.param(1, marks=pytest.mark.full)])
@pytest.mark.parametrize(("length", "most", "stride"), [(3, 15, 1), (4, 20, 5), (5, 25, 11)])
def test_the_expert_guesses_consistent_words_and_finds_each_in_the_turns_of_gem_llm(length, most, stride, sparse):
    for secret in common_words(length)[:: stride * sparse]:
        marked = ()
        while not marked or marked[-1][0] != secret:
            guess = best_guess(length, marked)
            assert all(marks_by_counting(guess, before) == answer for before, answer in marked)
            marked = (*marked, (guess, marks_by_counting(secret, guess)))
        assert len(marked) <= most
