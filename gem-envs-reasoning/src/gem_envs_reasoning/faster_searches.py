"""Faster versions of three searches of reasoning-gym, which find the same solutions and so give the same items."""

from collections import deque
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from reasoning_gym.games import futoshiki, knight_swap
from reasoning_gym.games.contrib.sokoban.src import astar as sokoban
from reasoning_gym.games.contrib.sokoban.src.utils import can_move, get_state, is_deadlock, is_solved, manhattan_sum

Cell = tuple[int, int]
Move = tuple[str, str, str]

_STEPS = (((1, 0), "D"), ((-1, 0), "U"), ((0, -1), "L"), ((0, 1), "R"))


def solve_swap(
    board: Mapping[str, Sequence[str]], pieces: Mapping[str, str | None], start: str = "w"
) -> list[Move] | None:
    """The shortest moves that swap the knights, or None. Breadth first, squares in the order of their names."""
    squares = sorted(board)
    bit = {square: 1 << number for number, square in enumerate(squares)}
    moves = {square: [(near, bit[square] | bit[near], bit[near]) for near in board[square]] for square in squares}
    white = sum(bit[square] for square, piece in pieces.items() if piece == "w")
    black = sum(bit[square] for square, piece in pieces.items() if piece == "B")
    first = (white, black, start == "w")
    previous: dict[tuple[int, int, bool], tuple[tuple[int, int, bool], Move] | None] = {first: None}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        if state[0] == black and state[1] == white:
            return _moves_to(state, previous)
        whites, blacks, turn = state
        ours, color = (whites, "w") if turn else (blacks, "B")
        for square in squares:
            if not ours & bit[square]:
                continue
            for near, both, target in moves[square]:
                if (whites | blacks) & target:
                    continue
                after = (whites ^ both, blacks, False) if turn else (whites, blacks ^ both, True)
                if after not in previous:
                    previous[after] = state, (color, square, near)
                    queue.append(after)
    return None


def _moves_to(state: tuple[int, int, bool], previous: Mapping[Any, tuple[Any, Move] | None]) -> list[Move]:
    moves: list[Move] = []
    while (step := previous[state]) is not None:
        state, move = step
        moves.append(move)
    return moves[::-1]


def count_solutions(_: Any, grid: list[list[int]], constraints: Mapping[tuple[Cell, Cell], str], limit: int = 2) -> int:
    """The solutions of a futoshiki, counted up to `limit`; the cell with the fewest candidates comes first."""
    size = len(grid)
    every = (1 << size) - 1
    rows = [sum(1 << number - 1 for number in line if number) for line in grid]
    columns = [sum(1 << number - 1 for number in column if number) for column in zip(*grid, strict=True)]
    empty = {(r, c) for r in range(size) for c in range(size) if not grid[r][c]}
    compared: dict[Cell, list[tuple[Cell, bool]]] = {}
    for (one, other), relation in constraints.items():
        compared.setdefault(one, []).append((other, relation == "<"))
        compared.setdefault(other, []).append((one, relation == ">"))

    def candidates(cell: Cell) -> int:
        numbers = every & ~(rows[cell[0]] | columns[cell[1]])
        for (r, c), smaller in compared.get(cell, ()):
            if number := grid[r][c]:
                numbers &= (1 << number - 1) - 1 if smaller else -1 << number
        return numbers

    def count(most: int) -> int:
        if not empty:
            return 1
        numbers, cell = min(((candidates(cell), cell) for cell in empty), key=lambda pair: pair[0].bit_count())
        empty.discard(cell)
        r, c = cell
        found = 0
        for number in range(1, size + 1):
            bit = 1 << number - 1
            if numbers & bit and found < most:
                grid[r][c], rows[r], columns[c] = number, rows[r] | bit, columns[c] | bit
                found += count(most - found)
                grid[r][c], rows[r], columns[c] = 0, rows[r] ^ bit, columns[c] ^ bit
        empty.add(cell)
        return found

    return count(limit)


def search(matrix: Any, position: Cell, max_depth: int = 100, **options: Any) -> tuple[str | None, int]:
    """Moves that push all boxes of sokoban onto goals, and their number; the same A* search as reasoning-gym's.

    The search reaches most positions many times; the moves that are possible in a position are computed once.
    """
    shape = matrix.shape
    reached: set[str] = set()
    known: dict[str, list[tuple[str, int, int, Cell, str]]] = {}
    start = get_state(matrix)
    heap: list[tuple[int, int, str, Cell, int, str]] = [
        (0, manhattan_sum(start, position, shape), start, position, 0, "")
    ]
    depth = -1
    while heap:
        _, estimate, state, at, depth, moves = heappop(heap)
        reached.add(state)
        if state not in known:
            known[state] = _reachable(state, shape, at)
        for after, cost, left, there, letter in known[state]:
            if after in reached:
                continue
            heappush(heap, (cost + estimate, left, after, there, depth + 1, moves + letter))
            if is_solved(after):
                return moves + letter, depth + 1
        if depth > max_depth:
            break
    return None, depth + 1 if heap else -1


def _reachable(state: str, shape: Cell, at: Cell) -> list[tuple[str, int, int, Cell, str]]:
    found: list[tuple[str, int, int, Cell, str]] = []
    for step, letter in _STEPS:
        after, cost = can_move(state, shape, at, step)
        if after is not None and not is_deadlock(after, shape):
            there = at[0] + step[0], at[1] + step[1]
            found.append((after, cost, manhattan_sum(after, there, shape), there, letter))
    return found


def install() -> None:
    """Replace reasoning-gym's searches by these."""
    setattr(knight_swap.KnightSwapLogic, "solve_swap", staticmethod(solve_swap))  # noqa: B010
    setattr(futoshiki.FutoshikiDataset, "count_solutions", count_solutions)  # noqa: B010
    setattr(sokoban, "astar", search)  # noqa: B010
