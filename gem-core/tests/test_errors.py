"""The tree of errors, and the hints in their messages."""

import inspect

import pytest

from gem import errors
from gem.errors import GemError, did_you_mean

ALL = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, GemError)]


@pytest.mark.parametrize("error", ALL)
def test_every_error_is_drawn_in_the_tree_with_its_standard_parent(error: type[GemError]) -> None:
    if error is GemError:
        return
    parent, *standard = error.__bases__

    assert parent in ALL
    assert len(standard) == (parent is GemError)  # others inherit it
    drawn = "".join([error.__name__, *(f"({each.__name__})" for each in standard)])
    assert f"── {drawn} " in str(errors.__doc__)


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        (
            "game:guessthenumber-v0-easy",
            ["game:GuessTheNumber-v0-easy"],
            " Did you mean 'game:GuessTheNumber-v0-easy'?",
        ),
        ("rebm", ["rebn", "grpo", "ppo"], " Did you mean 'rebn'?"),
        ("abc", ["abd", "abe"], " Did you mean 'abe' or 'abd'?"),
        ("abcd", ["abce", "abcf", "abcg", "abch"], " Did you mean 'abch', 'abcg' or 'abcf'?"),
        ("xyz", ["rebn"], ""),
        ("xyz", [], ""),
    ],
)
def test_did_you_mean_names_at_most_three_near_names(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known) == hint
