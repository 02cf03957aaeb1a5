"""The sliding puzzle as pure functions: which tiles can slide, a lower bound on the moves left, and A*.

A board is a flat tuple of ``size * size`` tiles, row by row, with 0 for the empty cell.
"""

from functools import cache, lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from gem_envs_games.directions import DIRECTIONS

Board = tuple[int, ...]

WEIGHTS = {2: 1, 3: 1, 4: 2, 5: 5}
"""Size → the weight of `lower_bound` in `solve` (weighted A*). 1 finds a shortest path; larger boards have too many
positions for that, and 2 finds a path that is about a tenth longer."""


def solved(size: int) -> Board:
    """The solved board: the tiles in ascending order, the empty cell last."""
    return (*range(1, size * size), 0)


@cache
def slides(size: int) -> tuple[dict[str, int], ...]:
    """The slides into each cell, if it is the empty one: direction of a tile → the cell from which it slides in."""
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
    """A cell that the empty cell has reached, and by a random byte the next one."""

    cell: int
    following: list["_Stop"]


@cache
def _start(size: int) -> _Stop:
    """The solved board's empty cell. It moves to any cell beside it except the one that it came from."""
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


def scrambled(choices: bytes, size: int) -> Board:
    """The board after the empty cell of the solved one has moved one step per byte, never straight back."""
    empty, options = _start(size)
    tiles = list(solved(size))
    for byte in choices:
        cell, options = options[byte]
        tiles[empty] = tiles[cell]
        empty = cell
    tiles[empty] = 0
    return tuple(tiles)


def path_back(choices: bytes, size: int) -> dict[Board, str]:
    """The path from each board that `scrambled` passes to the solved one: board → direction in which a tile slides.

    For a board that it passes more than once, the path starts at the first time, which is nearer to the end.
    """
    stop = _start(size)
    board, path = solved(size), dict[Board, str]()
    for byte in choices:
        empty, stop = stop.cell, stop.following[byte]
        board = slide(board, empty, stop.cell)
        path.setdefault(board, next(name for name, back in slides(size)[stop.cell].items() if back == empty))
    return path


def lower_bound(board: Board, size: int) -> int:
    """A lower bound on the moves to the solved board: the tiles' distances from their cells, and linear conflicts.

    Two tiles in the row (or column) where both belong, but in the wrong order, cost two more moves, since one has to
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
    """The number that have to leave so that the others ascend: all but a longest ascending subsequence."""
    longest: list[int] = []
    for i, place in enumerate(places):
        longest.append(1 + max((longest[j] for j in range(i) if places[j] < place), default=0))
    return len(places) - max(longest, default=0)


def solve(start: Board, size: int) -> dict[Board, str]:
    """A path from `start` to the solved board: for each board on it, the direction in which a tile slides next.

    It is A* with `lower_bound` times the weight of the size as its heuristic, so a shortest path for sizes 2 and 3.
    """
    goal, weight = solved(size), WEIGHTS[size]
    order = count()
    # Among equals the board with the lowest bound comes first, then the one found last.
    waiting = [(0, 0, 0, start)]
    came: dict[Board, tuple[int, Board, str]] = {start: (0, start, "")}
    while True:
        *_, board = heappop(waiting)
        if board == goal:
            return _path(came, board)
        moves, empty = came[board][0] + 1, board.index(0)
        for name, cell in slides(size)[empty].items():
            after = slide(board, empty, cell)
            if after not in came or moves < came[after][0]:
                came[after] = moves, board, name
                left = lower_bound(after, size)
                heappush(waiting, (moves + weight * left, left, -next(order), after))


def rest_of_path(path: dict[Board, str], board: Board, size: int) -> dict[Board, str]:
    """The part of `path` that leads from `board` to the solved board, without the detours."""
    rest: dict[Board, str] = {}
    while board != solved(size):
        rest[board] = path[board]
        empty = board.index(0)
        board = slide(board, empty, slides(size)[empty][path[board]])
    return rest


def _path(came: dict[Board, tuple[int, Board, str]], board: Board) -> dict[Board, str]:
    path: dict[Board, str] = {}
    moves, before, name = came[board]
    while moves:
        path[before] = name
        moves, before, name = came[before]
    return path
