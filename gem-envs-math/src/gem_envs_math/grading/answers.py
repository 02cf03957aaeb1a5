"""Reading the text of an answer: everything that it may mean."""

import re
from functools import lru_cache, reduce
from typing import NamedTuple

from gem_envs_math.grading.factors import CALLS, CONSTANTS
from gem_envs_math.grading.letters import Letters, base_units
from gem_envs_math.grading.nodes import Node
from gem_envs_math.grading.number_words import NUMBER_WORD, with_numerals
from gem_envs_math.grading.reader import Reader
from gem_envs_math.grading.tokens import Foreign, Token, TooLong, Unreadable, tokens
from gem_envs_math.grading.units import is_product, singular

_GROUPED = re.compile(r"\d,\d{3}(?!\d)")
_LETTERS = {"pi", "infinity", "infty", "inf", "oo"} | CALLS
_ALL = {("all", "real", "number"), ("all", "real"), ("real", "number")}
_LONGEST_CACHED = 200
_LONGEST_PRODUCT = 5
_ARTICLES = {"a", "an", "the"}


class Answer(NamedTuple):
    """An answer as it was read."""

    tokens: tuple[str, ...]
    """The text without spaces and decoration."""
    readings: tuple[Node, ...]
    """Possible meanings of an answer; none if it is words, or not readable."""
    words: tuple[str, ...]
    """The words of an answer in words: in lower case, singular, without articles."""
    problem: str
    """The reason why it is not readable: `too long`, `foreign` (math-verify may read it), `unreadable`, or nothing."""
    digits: int
    """The number of its digits."""
    units: frozenset[str] = frozenset()
    """The base units of the gold, if this is it."""
    is_letters: bool = False
    """It has letters that were read as a unit, and may be variables."""


def read(text: str, letters: Letters) -> Answer:
    """The possible meanings of `text`; `letters` says which letters may be units."""
    # Many answers have the same gold. Long ones are not kept, because their trees are large.
    return _cached(text, letters) if len(text) <= _LONGEST_CACHED else _uncached(text, letters)


def _uncached(text: str, letters: Letters) -> Answer:
    try:
        found = tokens(text)
        if NUMBER_WORD.search(text):
            found = with_numerals(found)
    except TooLong:
        return Answer((), (), (), "too long", 0)
    except Unreadable:
        return Answer((), (), _words_of(text), "unreadable", 0)
    values = tuple(token.value.strip() for token in found)
    digits = sum(len(token.value) for token in found if token.kind == "number")
    if not found:
        return Answer((), (), (), "unreadable", 0)
    if _is_words(found):
        words = _folded(found)
        if words in _ALL:
            return Answer(values, (Node("every", (), "R"),), (), "", digits)
        return Answer(values, _product(found), words, "", digits)
    problem = "unreadable"
    readings: list[Node] = []
    is_letters = False
    for grouped in (True, False) if _GROUPED.search(text) else (False,):
        try:
            node, has_letters = _read(found, grouped, letters)
            readings.append(node)
            is_letters |= has_letters
        except TooLong:
            return Answer((), (), (), "too long", 0)
        except Foreign:
            problem = "foreign"
        except Unreadable:
            pass
        except (ValueError, ArithmeticError, RecursionError):
            problem = "unreadable"
    in_words = not readings and problem != "foreign" and any(token.kind in ("word", "text") for token in found)
    words = _folded(found) if in_words else ()
    units = frozenset[str]().union(*map(base_units, readings)) if letters.is_gold else frozenset[str]()
    return Answer(values, tuple(readings), words, "" if readings else problem, digits, units, is_letters)


_cached = lru_cache(maxsize=2048)(_uncached)


def forget() -> None:
    """Forget what was read."""
    _cached.cache_clear()


def _product(found: list[Token]) -> tuple[Node, ...]:
    """A short word as a product of variables: `abx`, which is `bxa`."""
    if len(found) > 1 or found[0].kind != "word" or len(found[0].value) > _LONGEST_PRODUCT:
        return ()
    return (reduce(lambda product, letter: Node("mul", (product, letter)), _letters(found[0].value)),)


def _letters(word: str) -> list[Node]:
    return [Node("constant" if letter in CONSTANTS else "name", (), letter) for letter in word]


def _read(found: list[Token], grouped: bool, letters: Letters) -> tuple[Node, bool]:
    reader = Reader(found, letters=letters, grouped=grouped)
    node = reader.read()
    if not reader.has_sign_pair:
        return node, reader.has_letters
    other = Reader(found, letters=letters, grouped=grouped, plus=False).read()
    if node.op == other.op == "set":
        return Node("set", (*node.args, *other.args)), reader.has_letters
    parts = [item for each in (node, other) for item in (each.args if each.op == "several" else (each,))]
    return Node("several", tuple(parts), ","), reader.has_letters


def _is_words(found: list[Token]) -> bool:
    """Tell words from a formula of letters."""
    if not all(token.kind in ("word", "text") or token.value in (",", "-", "'", ".", "!", ";") for token in found):
        return False
    words = [word for token in found if token.kind in ("word", "text") for word in token.value.split()]
    if all(token.kind == "word" for token in found) and all(len(word) == 1 or is_product(word) for word in words):
        return False
    return len(words) > 1 or any(len(word) > 2 and word not in _LETTERS for word in words)


def _folded(found: list[Token]) -> tuple[str, ...]:
    text = " ".join(token.value for token in found if token.value not in (".", "!", "'"))
    return _words_of(text.replace(" - ", " ").replace(",", " , "))


def _words_of(text: str) -> tuple[str, ...]:
    words = [word.strip(".!?\"'`*$").casefold() for word in text.replace("\\", " ").split()]
    return tuple(singular(word) for word in words if word and word not in _ARTICLES)
