"""Tic-tac-toe: three in a line on nine cells."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from gem_envs_arena.game import box
from gem_envs_arena.line_game import LineGame

_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_FREE = " "


class TicTacToe(LineGame):
    r"""Tic-tac-toe: whoever first has three of the own marks in a row, a column or a diagonal wins.

    Every observation has the board, with the numbers of the free cells, and the legal moves. An action is `\boxed{5}`.

    Rewards at the end: 1 for the winner and -1 for the other; 0 for both in a draw, which nobody wins. A reply without
    a legal move loses.
    """

    def _set_up(self, options: Mapping[str, Any]) -> None:
        self.cells = _FREE * 9

    def _rules(self, player: str) -> str:
        return (
            "You are playing tic-tac-toe. Two players put their marks on free cells in turn, first X, then O. "
            "Three of your marks in a row, a column or a diagonal win.\n"
            "Answer with the number of a free cell inside \\boxed{}; the last legal one counts. A reply without one "
            f"loses.\nYou are the {player} player."
        )

    def _board(self) -> str:
        shown = [str(number) if cell == _FREE else cell for number, cell in enumerate(self.cells, start=1)]
        return "\n".join(" ".join(shown[row : row + 3]) for row in (0, 3, 6))

    @property
    def legal(self) -> list[str]:
        return [str(number) for number, cell in enumerate(self.cells, start=1) if cell == _FREE]

    def _place(self, move: str) -> bool:
        self.cells = _with_mark(self.cells, int(move) - 1, self.mark)
        return _has_line(self.cells, self.mark)

    def expert_action(self) -> str:
        """A best move by minimax, one of several at random: it never loses."""
        own, other = self.mark, "XO".replace(self.mark, "")
        values = {move: -_value(_with_mark(self.cells, int(move) - 1, own), other, own) for move in self.legal}
        best = max(values.values())
        return box(self.action_rng.choice([move for move, value in values.items() if value == best]))


def _with_mark(cells: str, cell: int, mark: str) -> str:
    return cells[:cell] + mark + cells[cell + 1 :]


def _has_line(cells: str, mark: str) -> bool:
    return any(cells[a] == cells[b] == cells[c] == mark for a, b, c in _LINES)


@cache
def _value(cells: str, mover: str, other: str) -> int:
    """The result for the player who moves, with best play: 1, 0 or -1."""
    if _has_line(cells, other):
        return -1
    free = [cell for cell in range(9) if cells[cell] == _FREE]
    return max((-_value(_with_mark(cells, cell, mover), other, mover) for cell in free), default=0)
