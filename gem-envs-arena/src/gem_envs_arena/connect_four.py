"""Connect Four: four in a line of disks that fall down."""

from collections.abc import Mapping
from typing import Any

from gem_envs_arena.game import box
from gem_envs_arena.line_game import LineGame

COLUMNS, ROWS = 7, 6
_HEIGHT = ROWS + 1
"""Bits of a column: one more than its rows, so that no line runs from one column into the next."""
_DIRECTIONS = (1, _HEIGHT, _HEIGHT - 1, _HEIGHT + 1)
"""From a bit to its neighbour above, to the right, and on both diagonals."""
_FROM_THE_MIDDLE = sorted(range(COLUMNS), key=lambda column: abs(column - COLUMNS // 2))
_DEPTH = 4
"""Moves that the expert looks ahead."""


class ConnectFour(LineGame):
    r"""Connect Four on 7 columns and 6 rows: a disk falls to the lowest free cell of its column; four in a line win.

    Every observation has the board and the legal moves. An action is `\boxed{4}`, the number of a column.

    Rewards at the end: 1 for the winner and -1 for the other; 0 for both in a draw, which nobody wins. A reply without
    a legal move loses.
    """

    def _set_up(self, options: Mapping[str, Any]) -> None:
        self._disks = dict.fromkeys(self.players, 0)
        """The cells of each player as bits: row `r` of column `c` is bit `c * 7 + r`, from the bottom left."""
        self._heights = [0] * COLUMNS

    def _rules(self, player: str) -> str:
        return (
            "You are playing Connect Four. Two players drop disks into seven columns in turn, first X, then O. "
            "A disk falls to the lowest free cell of its column. Four of your disks in a row, a column or a "
            "diagonal win.\nAnswer with the number of a column inside \\boxed{}; the last legal one counts. A reply "
            f"without one loses.\nYou are the {player} player."
        )

    def _board(self) -> str:
        rows = [" ".join(self._cell(column, row) for column in range(COLUMNS)) for row in reversed(range(ROWS))]
        return "\n".join([*rows, " ".join(str(column) for column in range(1, COLUMNS + 1))])

    def _cell(self, column: int, row: int) -> str:
        bit = 1 << column * _HEIGHT + row
        return next((mark for mark, disks in zip("XO", self._disks.values(), strict=True) if disks & bit), ".")

    @property
    def legal(self) -> list[str]:
        return [str(column) for column, height in enumerate(self._heights, start=1) if height < ROWS]

    def _place(self, move: str) -> bool:
        column = int(move) - 1
        self._disks[self.player] |= 1 << column * _HEIGHT + self._heights[column]
        self._heights[column] += 1
        return _has_line(self._disks[self.player])

    def expert_action(self) -> str:
        """The best move of a search that looks four moves ahead; of equal ones the nearest to the middle."""
        own, other = self._disks[self.player], self._disks[self.other]
        return box(str(_best(own, other, self._heights, _DEPTH, -COLUMNS * ROWS, COLUMNS * ROWS)[1] + 1))


def _has_line(disks: int) -> bool:
    for direction in _DIRECTIONS:
        pairs = disks & disks >> direction
        if pairs & pairs >> 2 * direction:
            return True
    return False


def _best(own: int, other: int, heights: list[int], depth: int, low: int, high: int) -> tuple[int, int]:
    """The value of a position for the player who moves, and its best column (-1: none), by alpha-beta search.

    A win has the depth that is left plus 1, so that the quickest is the best; what the search does not see is 0.
    """
    best, chosen = -COLUMNS * ROWS, -1
    for column in _FROM_THE_MIDDLE:
        height = heights[column]
        if height == ROWS:
            continue
        placed = own | 1 << column * _HEIGHT + height
        if _has_line(placed):
            return depth + 1, column
        if depth == 0:
            value = 0
        else:
            heights[column] += 1
            value = -_best(other, placed, heights, depth - 1, -high, -max(low, best))[0]
            heights[column] -= 1
        if value > best:
            best, chosen = value, column
        if best >= high:
            break
    return (0, -1) if chosen < 0 else (best, chosen)
