"""The sliding puzzle as pure functions: what can slide, how far a board is from home, and the way there.

A board is a flat tuple of ``size * size`` tiles, row by row, with 0 for the empty cell.
"""

from functools import cache, lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from gem_envs_games.directions import DIRECTIONS

Board = tuple[int, ...]

WEIGHTS = {2: 1, 3: 1, 4: 2, 5: 5}
"""For each size, how much more `solve` trusts `at_least` than the moves made. 1 finds a shortest way; larger boards
have too many positions for that, and 2 finds one that is a tenth longer or so."""


def home(size: int) -> Board:
    """The solved board: the tiles in ascending order, the empty cell last."""
    return (*range(1, size * size), 0)


@cache
def slides(size: int) -> tuple[dict[str, int], ...]:
    """For each cell, if it is the empty one: from which cell a tile can slide into it, by the tile's direction."""
    found: list[dict[str, int]] = []
    for cell in range(size * size):
        row, col = divmod(cell, size)
        found.append(
            {
                name: (row - down) * size + col - right
                for name, (down, right) in DIRECTIONS.items()
                if 0 <= row - down < size and 0 <= col - right < size
            }
        )
    return tuple(found)


def slide(board: Board, empty: int, cell: int) -> Board:
    """The board after the tile in `cell` has moved into the empty cell."""
    tiles = list(board)
    tiles[empty], tiles[cell] = tiles[cell], 0
    return tuple(tiles)


class _Stop(NamedTuple):
    """Where the empty cell has got to, and by a byte where it goes next."""

    cell: int
    following: list["_Stop"]


@cache
def _start(size: int) -> _Stop:
    """The solved board, from where the empty cell wanders: to any cell beside it but the one that it came from."""
    stops = {
        (cell, before): _Stop(cell, [])
        for cell, around in enumerate(slides(size))
        for before in (cell, *around.values())
    }
    for (cell, before), stop in stops.items():
        choices = [(next, cell) for next in slides(size)[cell].values() if next != before]
        stop.following.extend(stops[choices[byte * len(choices) >> 8]] for byte in range(256))
    last = size * size - 1
    return stops[last, last]


def wandered(choices: bytes, size: int) -> Board:
    """The board after the empty cell has wandered from the solved one, a step for each byte, never straight back."""
    empty, options = _start(size)
    tiles = list(home(size))
    for byte in choices:
        cell, options = options[byte]
        tiles[empty] = tiles[cell]
        empty = cell
    tiles[empty] = 0
    return tuple(tiles)


def way_back(choices: bytes, size: int) -> dict[Board, str]:
    """The way home from each board that the empty cell came by as it `wandered`.

    Where it came by a board more than once, the way is from the first time, when it was nearer to home.
    """
    stop = _start(size)
    board, way = home(size), dict[Board, str]()
    for byte in choices:
        empty, stop = stop.cell, stop.following[byte]
        board = slide(board, empty, stop.cell)
        way.setdefault(board, next(name for name, back in slides(size)[stop.cell].items() if back == empty))
    return way


def at_least(board: Board, size: int) -> int:
    """A number of moves without which `board` is never solved: each tile's distance from home, and linear conflicts.

    Two tiles in the row (or column) where both belong, but in the wrong order, cost two moves more, since one has to
    leave the line: O. Hansson, A. Mayer and M. Yung, "Criticizing solutions to relaxed models yields powerful
    admissible heuristics", Information Sciences 63 (1992).
    """
    total = 0
    for index in range(size):
        total += _row_cost(size, index, board[index * size : (index + 1) * size])
        total += _column_cost(size, index, board[index::size])
    return total


@lru_cache(maxsize=100_000)
def _row_cost(size: int, index: int, tiles: Board) -> int:
    homes = [divmod(tile - 1, size) for tile in tiles if tile]
    return sum(abs(row - index) for row, _ in homes) + 2 * _conflicts([col for row, col in homes if row == index])


@lru_cache(maxsize=100_000)
def _column_cost(size: int, index: int, tiles: Board) -> int:
    homes = [divmod(tile - 1, size) for tile in tiles if tile]
    return sum(abs(col - index) for _, col in homes) + 2 * _conflicts([row for row, col in homes if col == index])


def _conflicts(places: list[int]) -> int:
    """How many have to leave so that the others stand in ascending order: all but a longest ascending subsequence."""
    longest: list[int] = []
    for i, place in enumerate(places):
        longest.append(1 + max((longest[j] for j in range(i) if places[j] < place), default=0))
    return len(places) - max(longest, default=0)


def solve(start: Board, size: int) -> dict[Board, str]:
    """A way from `start` to the solved board: for each board on it, the direction in which a tile slides next.

    It is A* with the estimate `at_least` times the weight of the size, so a shortest way for sizes 2 and 3.
    """
    goal, weight = home(size), WEIGHTS[size]
    order = count()
    # Among equals the board that seems nearest to home comes first, then the one found last.
    waiting = [(0, 0, 0, start)]
    came: dict[Board, tuple[int, Board, str]] = {start: (0, start, "")}
    while True:
        *_, board = heappop(waiting)
        if board == goal:
            return _way(came, board)
        moves, empty = came[board][0] + 1, board.index(0)
        for name, cell in slides(size)[empty].items():
            after = slide(board, empty, cell)
            if after not in came or moves < came[after][0]:
                came[after] = moves, board, name
                left = at_least(after, size)
                heappush(waiting, (moves + weight * left, left, -next(order), after))


def rest_of_way(way: dict[Board, str], board: Board, size: int) -> dict[Board, str]:
    """What of `way` leads from `board` to the solved board, without the detours."""
    rest: dict[Board, str] = {}
    while board != home(size):
        rest[board] = way[board]
        empty = board.index(0)
        board = slide(board, empty, slides(size)[empty][way[board]])
    return rest


def _way(came: dict[Board, tuple[int, Board, str]], board: Board) -> dict[Board, str]:
    way: dict[Board, str] = {}
    moves, before, name = came[board]
    while moves:
        way[before] = name
        moves, before, name = came[before]
    return way
