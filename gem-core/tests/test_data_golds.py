"""Right answers as the columns of data sets have them."""

import doctest

import pytest

from gem.data import golds
from gem.data.golds import golds_of

SQUAD = {"text": ["Paris", "in Paris"], "answer_start": [7, 4]}
TRIVIA = {
    "value": "Paris",
    "aliases": ["Paris", "Lutetia"],
    "normalized_value": "paris",
    "normalized_aliases": ["paris", "lutetia"],
    "matched_wiki_entity_name": "",
    "type": "WikipediaEntity",
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Paris", ["Paris"]),
        (18, [18]),
        (0, [0]),
        (False, [False]),
        (["a", "b", "a"], ["a", "b"]),
        (("a", 2.5), ["a", 2.5]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"it's\"]", ["a", "it's"]),
        ("['a' 'b'\n 'c']", ["a", "b", "c"]),
        ("[1, 2]", ["[1, 2]"]),
        ("[0, 1)", ["[0, 1)"]),
        ("['a', 1]", ["['a', 1]"]),
        ("[x for x in y]", ["[x for x in y]"]),
        ("{1, 2}", ["{1, 2}"]),
        ("{x: x > 0}", ["{x: x > 0}"]),
        (SQUAD, ["Paris", "in Paris"]),
        (repr(SQUAD), ["Paris", "in Paris"]),
        ("{'text': array(['Paris', 'in Paris'], dtype=object), 'answer_start': array([7, 4])}", ["Paris", "in Paris"]),
        (TRIVIA, ["Paris", "Lutetia", "paris", "lutetia"]),
        ({"ground_truth": "18", "style": "rule"}, ["18"]),
        ({"context": "a page", "answer": "7", "text": "a page of text"}, ["7"]),
        ({"spans": [], "number": "3", "text": "a passage"}, ["3"]),
        ({"answer": ["7", "seven"], "target": "8"}, ["7", "seven"]),
    ],
)
def test_these_forms_are_understood(value, found):
    assert list(golds_of(value)) == found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "no answer, but None"),
        ("", "no answer"),
        (" \n", "no answer"),
        ([], "no answer"),
        (float("nan"), "no answer"),
        ({"text": [], "answer_start": []}, "no answer"),
        (["a", None], "an answer in a list is None"),
        (["a", ""], "an answer in a list is ''"),
        ({"start": 1, "end": 2}, "the keys start, end has no answer"),
        (b"Paris", "not b'Paris'"),
        (object(), "a text, a number, a list"),
    ],
)
def test_other_values_are_refused_with_what_is_there(value, message):
    with pytest.raises(ValueError, match=message):
        golds_of(value)


def test_the_examples_in_the_docstring_are_true():
    assert doctest.testmod(golds).failed == 0
