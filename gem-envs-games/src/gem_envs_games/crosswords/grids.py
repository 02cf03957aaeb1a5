"""Making crosswords from a list of words."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

CELLS_FOR_A_WORD = 6
"""Cells that a grid may use for each word: with fewer, drawing one might take long."""

_DRAWS = 50
"""The number of words drawn for each word of a grid before it is started again."""

# While a grid is made its cells are numbers, so that a step is an addition: 1 to the right, `_ROW` down. The first word
# begins in the middle; no grid comes near the width of a row of these numbers.
_ROW = 1000
_MIDDLE = 500 * _ROW + 500


class GridWord(NamedTuple):
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


def make_crossword(words: Sequence[str], count: int, most_cells: int, rng: Random) -> list[GridWord]:
    """A crossword of `count` different words out of `words`, in the order of their numbers, across before down.

    Every word crosses another, all are connected, and letters are next to each other only within a word. Entries are
    numbered as usual: from 1, row by row, where a word begins. Of the places where a word fits, one is drawn that
    keeps the grid smallest.

    Args:
        words: enough of them, of up to `CELLS_FOR_A_WORD` letters, that one will fit.
        count: at least 1.
        most_cells: the most letters of the grid; at least `CELLS_FOR_A_WORD` for each word.
    """
    while True:
        letters: dict[int, str] = {}
        spots: dict[str, tuple[int, int]] = {}
        # Letter → the cells with it that another word may still cross, each with the step of such a word.
        open_cells: dict[str, list[tuple[int, int]]] = {}
        corners = 10**6, 0, 10**6, 0
        # A few grids are dead ends, such as two words of 3 letters that cross in the middle: they are given up.
        for _ in range(_DRAWS * count):
            word = words[int(rng.random() * len(words))]
            if word in spots:
                continue
            room = most_cells - len(letters) - CELLS_FOR_A_WORD * (count - len(spots) - 1)
            fitting = [
                (_extended(corners, word, spot), spot)
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
    """Start and step of each placement of `word` that crosses a letter, or of the first word."""
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
            # Two letters in a row that exist already belong to a word in this direction.
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


def _extended(corners: Corners, word: str, spot: tuple[int, int]) -> Corners:
    """The corners of the grid with `word` at this spot."""
    start, step = spot
    top, bottom, left, right = corners
    row, col = divmod(start, _ROW)
    last_row, last_col = divmod(start + (len(word) - 1) * step, _ROW)
    # Without `min` and `max`, which would take half of the time.
    return (
        row if row < top else top,
        last_row if last_row > bottom else bottom,
        col if col < left else left,
        last_col if last_col > right else right,
    )


def _spread(corners: Corners) -> int:
    """The square of the distance between opposite corners."""
    top, bottom, left, right = corners
    return (bottom - top) ** 2 + (right - left) ** 2


def _numbered(spots: dict[str, tuple[int, int]], corners: Corners) -> list[GridWord]:
    top, _, left, _ = corners
    starts = sorted({start for start, _ in spots.values()})
    numbers = {start: number for number, start in enumerate(starts, 1)}
    return sorted(
        [
            GridWord(numbers[start], start // _ROW - top, start % _ROW - left, step == _ROW, word)
            for word, (start, step) in spots.items()
        ]
    )
