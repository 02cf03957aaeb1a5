"""Crosswords that are made from a list of words: which words, and where they stand."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

CELLS_FOR_A_WORD = 6
"""Cells that a grid may need for each word, so that one can be made at once."""

_DRAWS = 50
"""Words to draw for each word of a grid before it is begun anew."""

# While a grid is made its cells are numbers, so that a step is an addition: 1 to the right, `_ROW` down. The first word
# begins at 0, and no grid is nearly as wide as a row of these numbers.
_ROW = 1000


class Entry(NamedTuple):
    """A word in its place: its number, the row and the column of its first letter, and whether it goes down."""

    number: int
    row: int
    col: int
    down: bool
    word: str

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Row and column of each letter."""
        down, right = (1, 0) if self.down else (0, 1)
        return [(self.row + down * place, self.col + right * place) for place in range(len(self.word))]


def make_crossword(words: Sequence[str], count: int, most_cells: int, rng: Random) -> list[Entry]:
    """A crossword of `count` different words out of `words`, in the order of their numbers, across before down.

    Every word crosses another, all hang together, and letters stand next to each other only within a word. Entries are
    numbered as usual: from 1, row by row, where a word begins. Of the places where a word fits, one is drawn that
    keeps the whole smallest.

    Args:
        words: enough of them, of up to `CELLS_FOR_A_WORD` letters, that one will fit.
        count: at least 1.
        most_cells: the grid has no more letters; at least `CELLS_FOR_A_WORD` for each word.
    """
    while True:
        letters: dict[int, str] = {}
        spots: dict[str, tuple[int, int]] = {}
        # Few grids are dead ends, such as two words of 3 letters that cross in the middle: those are given up.
        for _ in range(_DRAWS * count):
            word = rng.choice(words)
            room = most_cells - len(letters) - CELLS_FOR_A_WORD * (count - len(spots) - 1)
            fitting = [spot for spot in _spots(word, letters) if _added(word, spot, letters) <= room]
            if word not in spots and fitting:
                spots[word] = start, step = min(fitting, key=lambda spot: (_spread(word, spot, letters), rng.random()))
                letters.update(zip(range(start, start + len(word) * step, step), word, strict=True))
                if len(spots) == count:
                    return _numbered(spots)


def _spots(word: str, letters: dict[int, str]) -> Iterator[tuple[int, int]]:
    """Start and step of each way to put `word` through a letter that is there, or anywhere if none is there."""
    if not letters:
        yield from ((0, 1), (0, _ROW))
    for place, letter in enumerate(word):
        for cell, other in letters.items():
            if other == letter:
                for step in (1, _ROW):
                    start = cell - place * step
                    if _fits(word, start, step, letters):
                        yield start, step


def _fits(word: str, start: int, step: int, letters: dict[int, str]) -> bool:
    end = start + len(word) * step
    if start - step in letters or end in letters:
        return False
    side = _ROW + 1 - step
    crossed = False
    for cell, letter in zip(range(start, end, step), word, strict=True):
        there = letters.get(cell)
        if there is None:
            crossed = False
            if cell - side in letters or cell + side in letters:
                return False
        elif crossed or there != letter:
            # Two letters in a row that are there already belong to a word in this direction.
            return False
        else:
            crossed = True
    return True


def _added(word: str, spot: tuple[int, int], letters: dict[int, str]) -> int:
    start, step = spot
    return sum(cell not in letters for cell in range(start, start + len(word) * step, step))


def _spread(word: str, spot: tuple[int, int], letters: dict[int, str]) -> int:
    """How far the corners of the whole would be from each other (squared), if `word` were at this spot."""
    start, step = spot
    rows, cols = zip(*map(_place, (*letters, start, start + (len(word) - 1) * step)), strict=True)
    return (max(rows) - min(rows)) ** 2 + (max(cols) - min(cols)) ** 2


def _place(cell: int) -> tuple[int, int]:
    """Row and column of a cell, either of which may be negative."""
    row, col = divmod(cell + _ROW // 2, _ROW)
    return row, col - _ROW // 2


def _numbered(spots: dict[str, tuple[int, int]]) -> list[Entry]:
    starts = {word: _place(start) for word, (start, _) in spots.items()}
    top, left = (min(place) for place in zip(*starts.values(), strict=True))
    numbers = {start: number for number, start in enumerate(sorted(set(starts.values())), 1)}
    entries = [
        Entry(numbers[starts[word]], starts[word][0] - top, starts[word][1] - left, step == _ROW, word)
        for word, (_, step) in spots.items()
    ]
    return sorted(entries)
