"""Crosswords that are made from a list of words: which words, and where they stand."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

CELLS_FOR_A_WORD = 6
"""Cells that a grid may need for each word, so that one can be made at once."""

_DRAWS = 50
"""Words to draw for each word of a grid before it is begun anew."""

# While a grid is made its cells are numbers, so that a step is an addition: 1 to the right, `_ROW` down. The first word
# begins in the middle, and no grid is nearly as wide as a row of these numbers.
_ROW = 1000
_MIDDLE = 500 * _ROW + 500


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
        # The cells through which a word may go yet, by their letter, each with the step of such a word.
        open_cells: dict[str, list[tuple[int, int]]] = {}
        corners = 10**6, 0, 10**6, 0
        # Few grids are dead ends, such as two words of 3 letters that cross in the middle: those are given up.
        for _ in range(_DRAWS * count):
            word = words[int(rng.random() * len(words))]
            if word in spots:
                continue
            room = most_cells - len(letters) - CELLS_FOR_A_WORD * (count - len(spots) - 1)
            fitting = [
                (_around(corners, word, spot), spot)
                for spot in _spots(word, letters, open_cells)
                if len(word) <= room or _added(word, spot, letters) <= room
            ]
            if not fitting:
                continue
            if len(fitting) > 1:
                spreads = [_spread(around) for around, _ in fitting]
                least = min(spreads)
                fitting = [chosen for chosen, spread in zip(fitting, spreads, strict=True) if spread == least]
            corners, (start, step) = fitting[int(rng.random() * len(fitting))]
            spots[word] = start, step
            if len(spots) == count:
                return _numbered(spots, corners)
            side = _ROW + 1 - step
            for cell, letter in zip(range(start, start + len(word) * step, step), word, strict=True):
                if cell in letters:
                    open_cells[letter].remove((cell, step))
                else:
                    letters[cell] = letter
                    open_cells.setdefault(letter, []).append((cell, side))


def _spots(
    word: str, letters: dict[int, str], open_cells: dict[str, list[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """Start and step of each way to put `word` through a letter that is there, or anywhere if none is there."""
    if not letters:
        yield from ((_MIDDLE, 1), (_MIDDLE, _ROW))
    for place, letter in enumerate(word):
        for cell, step in open_cells.get(letter, ()):
            start = cell - place * step
            if _fits(word, start, step, letters):
                yield start, step


def _fits(word: str, start: int, step: int, letters: dict[int, str]) -> bool:
    end = start + len(word) * step
    if start - step in letters or end in letters:
        return False
    side = _ROW + 1 - step
    crossed = False
    cell = start
    for letter in word:
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
        cell += step
    return True


def _added(word: str, spot: tuple[int, int], letters: dict[int, str]) -> int:
    start, step = spot
    return sum(cell not in letters for cell in range(start, start + len(word) * step, step))


Corners = tuple[int, int, int, int]
"""The first and the last row, the first and the last column."""


def _around(corners: Corners, word: str, spot: tuple[int, int]) -> Corners:
    """The corners of the whole, if `word` were at this spot."""
    start, step = spot
    top, bottom, left, right = corners
    row, col = divmod(start, _ROW)
    last_row, last_col = divmod(start + (len(word) - 1) * step, _ROW)
    # Without `min` and `max`, which take half of the time.
    return (
        row if row < top else top,
        last_row if last_row > bottom else bottom,
        col if col < left else left,
        last_col if last_col > right else right,
    )


def _spread(corners: Corners) -> int:
    """How far they are from each other, squared."""
    top, bottom, left, right = corners
    return (bottom - top) ** 2 + (right - left) ** 2


def _numbered(spots: dict[str, tuple[int, int]], corners: Corners) -> list[Entry]:
    top, _, left, _ = corners
    starts = sorted({start for start, _ in spots.values()})
    numbers = {start: number for number, start in enumerate(starts, 1)}
    return sorted(
        [
            Entry(numbers[start], start // _ROW - top, start % _ROW - left, step == _ROW, word)
            for word, (start, step) in spots.items()
        ]
    )
