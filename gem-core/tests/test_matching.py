"""Short answers: what is the same, what is not, and F1."""

import doctest
import time

import pytest

from gem.answers import matching
from gem.answers.matching import exact_match, f1, normalized

SAME = [
    ("Paris", "paris"),
    ("  the Eiffel   Tower. ", "Eiffel Tower"),
    ("Salted-Sparrow, a Novel!", "SaltedSparrow novel"),
    ("U.S.A.", "usa"),
    ("“Don’t Look Back”", "Dont look back"),
    ("Ｐａｒｉｓ", "Paris"),
    ("Cafe\u0301", "café"),
    ("1990–95", "1990-95"),
    ("5", "5.0"),
    ("0.75", "3/4"),
    ("3–2", "3-2"),
    ("12/05/1990", "12-05-1990"),
    ("1,234,567", "1234567"),
    ("R2-D2", "R2D2".lower()),
    ("1 234", "1,234"),
    ("0.5", ".5"),
    ("−7", "-7"),
    ("12.5 km", "12.5 km."),
    ("1,200 people", "1200 people"),
    ("Apollo 11.", "apollo-11".replace("-", " ")),
    ("The", "the"),
    ("A", "a."),
]
DIFFERENT = [
    ("125", "12.5"),
    ("25 million", "2.5 million"),
    ("5", ".5"),
    ("5", "-5"),
    ("5 degrees", "-5 degrees"),
    ("15", "1,5"),
    ("34", "3/4"),
    ("32", "3-2"),
    ("130", "1:30"),
    ("103", "10^3"),
    ("12345", "1,2345"),
    ("the", "A"),
    ("", "A"),
    ("", "?"),
    ("!", "?"),
    ("Paris or London", "Paris"),
    ("not Paris", "Paris"),
    ("Par is", "Paris"),
    ("12", "1 2 3"),
    ("1990", "1990-95"),
]


@pytest.mark.parametrize(("answer", "gold"), SAME)
def test_answers_that_say_the_same_match(answer, gold):
    assert exact_match(answer, gold)
    assert exact_match(gold, answer)
    assert f1(answer, gold) == 1.0


@pytest.mark.parametrize(("answer", "gold"), DIFFERENT)
def test_answers_that_say_something_else_do_not_match(answer, gold):
    assert not exact_match(answer, gold)
    assert not exact_match(gold, answer)
    assert f1(answer, gold) < 1.0


def test_ordinary_words_are_normalised_as_in_squad():
    assert normalized(" The  Salted-Sparrow, a  Novel!") == "saltedsparrow novel"
    assert normalized("theatre An") == "theatre"


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("tall tower", "the tall stone tower", 0.8),  # precision 1, recall 2/3
        ("tower tower tower", "stone tower", 0.4),  # a word counts as often as the gold has it: 1/3 and 1/2
        ("bridge", "stone tower", 0.0),
        ("yes it is", "yes", 0.0),
        ("no", "no way", 0.0),
        ("", "tower", 0.0),
    ],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(answer, gold, score):
    assert f1(answer, gold) == pytest.approx(score)


def test_a_long_answer_is_graded_at_once_and_a_longer_one_matches_nothing():
    started = time.monotonic()
    for part in ["a ", "1,", "-.", "\ufdfa", "9", "ab", "\u0301", "¼"]:
        for length in (1000, 1_000_000):
            hostile = (part * length)[:length]
            assert not exact_match(hostile, "12.5")
            assert f1(hostile, "12.5") < 0.1
    assert f1("tower " * 200, "tower") == 0.0

    assert time.monotonic() - started < 60


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(matching).failed == 0
