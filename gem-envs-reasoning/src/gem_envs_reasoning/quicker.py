"""The same items of reasoning-gym, sooner: searches that recompute or copy what stays the same."""

from collections import deque
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from reasoning_gym.games import knight_swap
from reasoning_gym.games.contrib.sokoban.src import astar as sokoban
from reasoning_gym.games.contrib.sokoban.src.utils import can_move, get_state, is_deadlock, is_solved, manhattan_sum

Cell = tuple[int, int]
Move = tuple[str, str, str]

_STEPS = (((1, 0), "D"), ((-1, 0), "U"), ((0, -1), "L"), ((0, 1), "R"))


def solve_swap(
    board: Mapping[str, Sequence[str]], pieces: Mapping[str, str | None], start: str = "w"
) -> list[Move] | None:
    """The shortest moves that swap the knights, or None; breadth first, squares in the order of their names."""
    squares = sorted(board)
    bit = {square: 1 << number for number, square in enumerate(squares)}
    moves = {square: [(near, bit[square] | bit[near], bit[near]) for near in board[square]] for square in squares}
    white = sum(bit[square] for square, piece in pieces.items() if piece == "w")
    black = sum(bit[square] for square, piece in pieces.items() if piece == "B")
    first = (white, black, start == "w")
    came: dict[tuple[int, int, bool], tuple[tuple[int, int, bool], Move] | None] = {first: None}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        if state[0] == black and state[1] == white:
            return _moves_to(state, came)
        whites, blacks, turn = state
        ours, color = (whites, "w") if turn else (blacks, "B")
        for square in squares:
            if not ours & bit[square]:
                continue
            for near, both, target in moves[square]:
                if (whites | blacks) & target:
                    continue
                after = (whites ^ both, blacks, False) if turn else (whites, blacks ^ both, True)
                if after not in came:
                    came[after] = state, (color, square, near)
                    queue.append(after)
    return None


def _moves_to(state: tuple[int, int, bool], came: Mapping[Any, tuple[Any, Move] | None]) -> list[Move]:
    moves: list[Move] = []
    while (step := came[state]) is not None:
        state, move = step
        moves.append(move)
    return moves[::-1]


def search(matrix: Any, position: Cell, max_depth: int = 100, **options: Any) -> tuple[str | None, int]:
    """A way to put all boxes of sokoban onto goals, and its length; the same search, the same way.

    It comes to most positions many times, by other ways, and what can be done there is found out once.
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
        _, estimate, state, at, depth, way = heappop(heap)
        reached.add(state)
        if state not in known:
            known[state] = _reachable(state, shape, at)
        for after, cost, left, there, letter in known[state]:
            if after in reached:
                continue
            heappush(heap, (cost + estimate, left, after, there, depth + 1, way + letter))
            if is_solved(after):
                return way + letter, depth + 1
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


def speed_up() -> None:
    """Put these in the place of reasoning-gym's."""
    setattr(knight_swap.KnightSwapLogic, "solve_swap", staticmethod(solve_swap))  # noqa: B010
    setattr(sokoban, "astar", search)  # noqa: B010
