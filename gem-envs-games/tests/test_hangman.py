from random import Random

import pytest

from gem_envs_games.hangman import Hangman
from gem_envs_games.hangman.solver import best_guess, consistent_words, secret_words
from gem_envs_games.replies import box
from gem_envs_games.words import common_words, known_words


def started(secret, **kwargs):
    env = Hangman(word_length=len(secret), **kwargs)
    env.reset(seed=0)
    env.secret = secret
    return env


def shown(secret, tried):
    return "".join(letter if letter in tried else "_" for letter in secret)


def test_a_word_that_is_shown_letter_by_letter_is_won_when_it_is_named():
    env = started("HELLO")
    steps = [env.step(box(guess)) for guess in ("L", "H", "E", "O", "HELLO")]
    assert [step.done for step in steps] == [False, False, False, False, True]
    assert "All its letters are shown: name it." in steps[3].observation
    assert "Word: H E L L O" in steps[3].observation
    assert env.expert_action() == box("HELLO")
    assert steps[-1].info == {"success": True}
    assert [step.reward for step in steps] == pytest.approx([0.2, 0.1, 0.1, 0.1, 0.5])


def test_the_letters_of_the_alphabet_alone_win_no_game():
    for secret in common_words(7)[::50]:
        env = started(secret, max_turns=26)
        steps = [env.step(box(letter)) for letter in "ETAOINSHRDLCUMWFGYPBVKJXQZ"]
        assert steps[-1].truncated
        assert not any(step.info.get("success") for step in steps)


def test_naming_the_word_earns_half_and_what_its_hidden_letters_would_have_earned():
    env = started("HELLO")
    assert env.step(box("l")).reward == pytest.approx(0.2)
    step = env.step(box("hello"))
    assert step.reward == pytest.approx(0.8)
    assert step.info == {"success": True}
    assert "Word: H E L L O" in step.observation


def test_every_answer_stays_on_the_board():
    env = started("HELLO")
    for guess in ("L", "X", "JELLY", "Q"):
        step = env.step(box(guess))
    assert step.observation == (
        "At turn 4, you guessed Q, which is not in my word.\n"
        "Word: _ _ L L _\n"
        "Letters that are not in it: X Q\n"
        "Words that it is not: JELLY\n"
        "Enter your move."
    )


def test_a_guessed_letter_is_shown_in_all_its_places():
    rng = Random(0)
    for word in rng.sample(known_words(7), 50):
        env = started(word, max_turns=100)
        letters = rng.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26)
        for turn, letter in enumerate(letters, 1):
            step = env.step(box(letter))
            assert f"Word: {' '.join(shown(word, letters[:turn]))}\n" in step.observation
            assert (step.reward > 0) == (letter in word)
            if set(word) <= set(letters[:turn]):
                break
        assert set(word) <= set(letters[:turn])
        assert env.step(box(word)).info["success"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("l", "guessed L before"),
        ("X", "guessed X before"),
        ("j e l l y", "guessed JELLY before"),
        ("HELL", "4 letters, and my word has 5"),
        ("H" * 100_000, "100000 letters"),
    ],
)
def test_a_refused_guess_uses_up_a_turn_and_only_says_why(reply, reason):
    env = started("HELLO")
    for guess in ("L", "X", "JELLY"):
        env.step(box(guess))
    board = env._board()
    step = env.step(box(reply))
    assert reason in step.observation
    assert (step.reward, step.done, env.turn, env._board()) == (0, False, 4, board)


@pytest.mark.parametrize("letters", ["é", "ß", "ı", "3", "A-B"])
def test_letters_beyond_a_to_z_are_not_a_guess(letters):
    assert started("HELLO").step(box(letters)).info["malformed"]


def test_the_example_is_never_the_secret_and_only_hardcore_draws_rare_words():
    for hardcore in (False, True):
        env = Hangman(7, hardcore)
        secrets = set()
        for seed in range(100):
            observation, _ = env.reset(seed=seed)
            assert env.secret not in observation
            secrets.add(env.secret)
        assert (secrets <= set(common_words(7))) != hardcore


def test_a_lost_game_gives_the_word():
    step = started("HELLO", max_turns=1).step(box("Z"))
    assert step.truncated
    assert "My word was HELLO. That was your last turn" in step.observation


def test_the_consistent_words_are_those_that_would_show_the_same_pattern():
    rng = Random(0)
    words = common_words(5)
    for _ in range(20):
        secret, tried = rng.choice(words), rng.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", rng.randint(0, 8))
        pattern = shown(secret, tried)
        assert consistent_words(words, pattern, tried) == [word for word in words if shown(word, tried) == pattern]


@pytest.mark.parametrize("stride", [401, pytest.param(29, marks=pytest.mark.full)])
@pytest.mark.parametrize(("length", "hardcore", "turns"), [(5, False, 15), (7, False, 20), (7, True, 20)])
def test_the_expert_finds_nearly_every_word_in_the_turns_of_gem_llm(length, hardcore, turns, stride):
    words = secret_words(length, hardcore)[::stride]
    won = 0
    for word in words:
        env = started(word, hardcore=hardcore, max_turns=turns)
        step = env.step(env.expert_action())
        while not step.done:
            step = env.step(env.expert_action())
        won += step.info["success"]
    assert won >= 0.98 * len(words)


def test_the_experts_last_guess_is_a_word():
    assert best_guess("_____", False, "", (), True) in common_words(5)
    env = started("HELLO", max_turns=1)
    assert len(env.expert_action()) == len(box("HELLO"))
