"""2048 as pure functions: what a move does to a board, and which move a heuristic takes.

A board is a flat tuple of ``size * size`` tiles, row by row, with 0 for an empty cell.
"""

from functools import cache, lru_cache
from itertools import pairwise
from math import lcm

from gem_envs_games.directions import DIRECTIONS

Board = tuple[int, ...]


@cache
def _lines(size: int) -> dict[str, tuple[tuple[int, ...], ...]]:
    """The cells of every line by direction, from the edge that the tiles move to."""
    cells = range(size * size)
    rows = tuple(tuple(cells[start : start + size]) for start in cells[::size])
    columns = tuple(tuple(cells[start::size]) for start in cells[:size])
    return {
        "up": columns,
        "down": tuple(column[::-1] for column in columns),
        "left": rows,
        "right": tuple(row[::-1] for row in rows),
    }


@lru_cache(maxsize=100_000)
def merged(line: Board) -> Board:
    """The line after its tiles have moved to its front.

    From the front on, two equal tiles with none between them become one of their sum, which merges no further.

    >>> merged((2, 0, 2, 4))
    (4, 4, 0, 0)
    >>> merged((2, 2, 2, 2))
    (4, 4, 0, 0)
    """
    result: list[int] = []
    may_merge = False
    for tile in filter(None, line):
        if may_merge and result[-1] == tile:
            result[-1] += tile
            may_merge = False
        else:
            result.append(tile)
            may_merge = True
    return (*result, *(0 for _ in range(len(line) - len(result))))


def moved(board: Board, size: int, name: str) -> Board:
    """The board after a move in a direction, before the new tile; the same board if the move changes nothing."""
    after = list(board)
    for cells in _lines(size)[name]:
        for cell, tile in zip(cells, merged(tuple([board[cell] for cell in cells])), strict=True):
            after[cell] = tile
    return tuple(after)


def moves(board: Board, size: int) -> dict[str, Board]:
    """The directions that change the board, each with the board after it."""
    found = {name: moved(board, size, name) for name in DIRECTIONS}
    return {name: after for name, after in found.items() if after != board}


CROWDED = 4
"""The most empty cells with which `best_move` looks one move further ahead."""

_DENOMINATOR = lcm(*range(1, CROWDED + 1))
"""Values of boards are compared as multiples of its inverse, so that every mean is an integer: sums of floats differ
between versions of Python, and the expert's moves with them."""


def best_move(board: Board, size: int) -> str | None:
    """The direction with the best expected value, or None if no move is left.

    It values the board after each move; a crowded one by the best answer to a new 2 in each empty cell.
    """
    found = moves(board, size)
    return max(found, key=lambda name: _expected_value(found[name], size), default=None)


def _expected_value(board: Board, size: int) -> int:
    empty = [cell for cell, tile in enumerate(board) if not tile]
    if len(empty) > CROWDED:
        return _DENOMINATOR * _value(board, size)
    total = 0
    for cell in empty:
        after = moves((*board[:cell], 2, *board[cell + 1 :]), size).values()
        total += max((_value(other, size) for other in after), default=_LOST)
    return total * (_DENOMINATOR // len(empty))


_LOST = -25_000_000


def _value(board: Board, size: int) -> int:
    lines = _lines(size)
    return sum(_line_value(tuple([board[cell] for cell in cells])) for name in ("left", "up") for cells in lines[name])


@lru_cache(maxsize=100_000)
def _line_value(line: Board) -> int:
    """The value of a row or column: for empty cells, equal neighbours, neighbours of similar size, and large tiles."""
    ranks = [tile.bit_length() - 1 for tile in line if tile]
    steps = [abs(a - b) for a, b in pairwise(ranks)]
    worth = sum(rank << rank for rank in ranks)
    return 50 * (len(line) - len(ranks)) + 25 * steps.count(0) - 5 * sum(steps) + worth
