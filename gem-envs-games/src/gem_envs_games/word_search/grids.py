"""Making grids of letters that hide words, each of them exactly once."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import isqrt
from random import Random
from string import ascii_uppercase
from typing import NamedTuple

from gem_envs_games.words import LONGEST, SHORTEST, common_words, is_word, known_words

SHORTEST_UNLISTED = 5
"""Letters of the shortest word that is hidden without being listed."""

_TRIES = 100
"""Places to try for a word before all words are drawn again."""


class Hidden(NamedTuple):
    """A word, row and column of its first letter, and whether it reads down rather than to the right."""

    word: str
    row: int
    col: int
    down: bool

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Row and column of each letter."""
        if self.down:
            return [(row, self.col) for row in range(self.row, self.row + len(self.word))]
        return [(self.row, col) for col in range(self.col, self.col + len(self.word))]

    @property
    def ends(self) -> tuple[int, int, int, int]:
        """Row and column of the first letter, then of the last."""
        return *self.cells[0], *self.cells[-1]


@cache
def words_to_hide(listed: bool) -> tuple[str, ...]:
    """The words to draw from: if `listed`, the common ones; else all known ones that are long and contain no other."""
    if listed:
        return tuple(word for length in range(SHORTEST, LONGEST + 1) for word in common_words(length))
    words = (word for length in range(SHORTEST_UNLISTED, LONGEST + 1) for word in known_words(length))
    # Of two words that begin or end in the same cell the player could not know which one is meant.
    return tuple(word for word in words if not any(map(is_word, _parts(word))))


def _parts(word: str) -> Iterator[str]:
    """The shorter pieces of a word that have as many letters as an unlisted word may have."""
    for length in range(SHORTEST_UNLISTED, len(word)):
        for start in range(len(word) - length + 1):
            yield word[start : start + length]


def make_word_search(count: int, listed: bool, rng: Random) -> tuple[list[str], list[Hidden]]:
    """The rows of a square grid, and the `count` words that it hides, in alphabetical order.

    Words read to the right or down, may cross, and are drawn from `words_to_hide`. None is in the grid a second time in
    any of the eight directions. If they are not `listed`, no other known word of the same length as one of them reads
    to the right or down. The grid is half as wide again as the longest word is long, or wider where the words would
    fill more than a third of it."""
    while True:
        words = sorted(rng.sample(words_to_hide(listed), count))
        size = max(3 * len(max(words, key=len)) // 2, isqrt(3 * sum(map(len, words)) - 1) + 1)
        hidden = _places(words, size, rng)
        if hidden is None:
            continue
        rows = _filled(hidden, size, rng)
        if _each_once(words, rows) and (listed or _known_words(rows, set(map(len, words))) == count):
            return rows, hidden


def _places(words: Sequence[str], size: int, rng: Random) -> list[Hidden] | None:
    """A random place for each word, or None if no place was found for one of them."""
    hidden: list[Hidden] = []
    letters: dict[tuple[int, int], str] = {}
    for word in words:
        for _ in range(_TRIES):
            along, beside = rng.randrange(size - len(word) + 1), rng.randrange(size)
            place = Hidden(word, along, beside, True) if rng.random() < 0.5 else Hidden(word, beside, along, False)
            if all(letters.get(cell, letter) == letter for cell, letter in zip(place.cells, word, strict=True)):
                break
        else:
            return None
        letters.update(zip(place.cells, word, strict=True))
        hidden.append(place)
    return hidden


def _filled(hidden: Sequence[Hidden], size: int, rng: Random) -> list[str]:
    letters = rng.choices(ascii_uppercase, k=size * size)
    for place in hidden:
        for (row, col), letter in zip(place.cells, place.word, strict=True):
            letters[row * size + col] = letter
    return ["".join(letters[start : start + size]) for start in range(0, size * size, size)]


def _each_once(words: Sequence[str], rows: Sequence[str]) -> bool:
    # Each row with the newline behind it is as wide as the step that goes straight down; diagonals take one more or one
    # less. A line that leaves the grid at one side meets that newline before it comes in again at the other.
    text = "\n".join(rows)
    width = len(rows) + 1
    lines = "\n".join([text, *(text[start::step] for step in (width, width + 1, width - 1) for start in range(step))])
    # A palindrome is the same backwards, and found once.
    return all(sum(_count(way, lines) for way in {word, word[::-1]}) == 1 for word in words)


def _count(word: str, lines: str) -> int:
    """Occurrences of the word in the lines: 0, 1, or 2 for more. (`str.count` would miss one that overlaps.)"""
    first = lines.find(word)
    return 0 if first < 0 else 1 if lines.find(word, first + 1) < 0 else 2


def _known_words(rows: Sequence[str], lengths: Iterable[int]) -> int:
    """The number of words of these lengths that read to the right or down."""
    lines = [*rows, *map("".join, zip(*rows, strict=True))]
    return sum(
        is_word(line[start : start + length])
        for length in lengths
        for line in lines
        for start in range(len(line) - length + 1)
    )
