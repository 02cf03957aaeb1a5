"""Sudoku: fill a grid so that every row, column and box holds each digit once."""

import math
from functools import cache

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import INTEGER, box, fields, last_box_counts
from gem_envs_games.sudoku.puzzles import FEWEST_CLUES, make_puzzle
from gem_envs_games.sudoku.solver import digits_left, houses, units

_ACTION = fields(INTEGER, INTEGER, INTEGER)


class Sudoku(DrawnSettings, BoardGame):
    r"""Fill the empty cells so that each row, each column and each box holds every digit once.

    The first observation has the rules, and each one has the board. An action is `\boxed{1 2 3}`: row, column (both
    from 1) and digit. The digit 0 empties the cell again. Every puzzle has exactly one solution.

    A digit that its row, column or box already holds is refused. One that the rules allow is placed, right or not, and
    the answer does not say which: the player has to reason, and may replace it or take it back. The game is won when
    the grid is full, since a full grid that keeps the rules is the solution. With `forgiving=True` a digit that is not
    the solution's is refused as well, as in gem-llm, and what is placed stays; trying digits out then solves the
    puzzle.

    Rewards: each right digit earns 1 / (number of empty cells at the start), as in gem-llm, and taking or replacing it
    costs the same, so a won game sums to 1. A reply without a move costs 0.1 and loses. A refused move uses up a turn
    and changes nothing.

    Args:
        clues: digits given, from 4 for 4 x 4 and from 24 for 9 x 9, and at most one less than there are cells.
        max_turns: moves in an episode.
        scale: 4 or 9, the number of rows.
        forgiving: refuse every wrong digit.

    Where any of the first three is None, each episode draws a scale of 4 with 10 clues and 15 turns, or of 9 with 50
    and 50.
    """

    def __init__(
        self, clues: int | None = 30, max_turns: int | None = 100, scale: int | None = 9, forgiving: bool = False
    ) -> None:
        super().__init__(max_turns=max_turns)
        self.forgiving = forgiving
        self._fix_or_draw(scale=scale, clues=clues)

    def _configure(self, scale: int, clues: int) -> None:
        if scale not in FEWEST_CLUES:
            raise ConfigError(f"scale is one of {sorted(FEWEST_CLUES)}, not {scale!r}")
        self.scale = scale
        self.clues = check_int(f"clues at scale {scale}", clues, FEWEST_CLUES[scale], scale * scale - 1)

    def _draw(self) -> None:
        self.scale, self.clues, self.max_turns = self.rng.choice(((4, 10, 15), (9, 50, 50)))

    def _start(self) -> str:
        self.puzzle, self.solution = make_puzzle(self.scale, self.clues, self.rng)
        self.grid = list(self.puzzle)
        scale, size = self.scale, math.isqrt(self.scale)
        if self.forgiving:
            placing = "and so is one that is not the solution's. A digit that you placed stays."
        else:
            placing = (
                "but one that is wrong in another way is not: I do not tell whether a digit is right. You may replace "
                "a digit that you placed, or empty its cell with the digit 0. The given digits stay."
            )
        return self._ask(
            f"You are playing Sudoku on a grid of {scale} rows and {scale} columns.\n"
            f"Fill the empty cells so that each row, each column and each of the {scale} boxes of {size} x {size} "
            f"cells holds every digit from 1 to {scale} exactly once. There is exactly one solution.\n"
            "Your move names the row, the column and the digit, for example \\boxed{1 2 3} for the digit 3 in row 1, "
            "column 2.\n"
            f"A digit that its row, column or box already holds is refused, {placing}\n"
            f"You win when the grid is full. You have {self.max_turns} turns; each move takes one, also a refused "
            "one.\n"
            f"{last_box_counts('move')}\n"
            "On the board, '.' is an empty cell, and '*' marks the digits that you placed."
        )

    def _step(self, action: str) -> Step:
        match = boxed(action, _ACTION.fullmatch)
        if match is None:
            return self._unreadable("give a row, a column and a digit")
        row, col, digit = (int(number) for number in match.groups())
        move = f"put {digit} at R{row} C{col}" if digit else f"empty R{row} C{col}"
        cell = (row - 1) * self.scale + col - 1
        if not (1 <= row <= self.scale and 1 <= col <= self.scale and 0 <= digit <= self.scale):
            wrong = f"rows, columns and digits go from 1 to {self.scale}"
        else:
            wrong = self._objection(cell, digit)
        if wrong:
            return self._ongoing(f"At turn {self.turn}, you tried to {move}, but {wrong}.")
        before, self.grid[cell] = self.grid[cell], digit
        right = (digit == self.solution[cell]) - (before == self.solution[cell])
        reward = right / self.puzzle.count(0)
        message = f"At turn {self.turn}, you {move}." if digit else f"At turn {self.turn}, you emptied R{row} C{col}."
        if 0 not in self.grid:
            return self._ended(f"{message} Congratulations! The grid is full, and it is right.", reward, success=True)
        return self._ongoing(message, reward)

    def _objection(self, cell: int, digit: int) -> str | None:
        """The reason why this cell may not get this digit, or None."""
        if self.puzzle[cell]:
            return "its digit is given and stays"
        if self.forgiving and self.grid[cell]:
            return "its digit is right and stays"
        if self.grid[cell] == digit:
            return f"it already holds {digit}" if digit else "it is empty already"
        if not digit:
            return None
        holders = [
            kind
            for kind, unit in zip(("row", "column", "box"), units(self.scale)[cell], strict=True)
            if digit in [self.grid[other] for other in houses(self.scale)[unit]]
        ]
        if holders:
            return f"its {' and its '.join(holders)} already {'holds' if len(holders) == 1 else 'hold'} a {digit}"
        if self.forgiving and digit != self.solution[cell]:
            return "that is not the digit of the solution"
        return None

    def _board(self) -> str:
        symbols = [(_GIVEN if given else _OWN)[digit] for digit, given in zip(self.grid, self.puzzle, strict=True)]
        return _frame(self.scale).format(*symbols)

    def sample_action(self) -> str:
        """A random cell that is not given, and a random move there that is not refused: a digit that breaks no rule,
        or the player's own taken away. (In forgiving mode such a digit may be refused, and none is taken away.)"""
        cells = [cell for cell, given in enumerate(self.puzzle) if not given]
        for cell in self.action_rng.sample(cells, len(cells)):
            moves = digits_left(self.grid, cell)
            if self.grid[cell]:
                moves = [] if self.forgiving else [*moves, 0]
            if moves:
                return self._reply(cell, self.action_rng.choice(moves))
        # In a forgiving game that is over no move is left.
        return self._reply(0, 0)

    def expert_action(self) -> str:
        """Correct a wrong digit if there is one, else fill the cell for which the fewest digits are left."""
        for cell, digit in enumerate(self.grid):
            right = self.solution[cell]
            if digit not in (0, right):
                return self._reply(cell, right if right in digits_left(self.grid, cell) else 0)
        empty = [cell for cell, digit in enumerate(self.grid) if not digit]
        cell = min(empty, key=lambda cell: len(digits_left(self.grid, cell)), default=0)
        return self._reply(cell, self.solution[cell])

    def _reply(self, cell: int, digit: int) -> str:
        return box(f"{cell // self.scale + 1} {cell % self.scale + 1} {digit}")


_GIVEN = (" .", *(f" {digit}" for digit in range(1, 10)))
_OWN = (" .", *(f"*{digit}" for digit in range(1, 10)))
"""A cell by its digit: those that the player has put there are marked."""


@cache
def _frame(scale: int) -> str:
    """The board with `{}` for each cell's mark and digit."""
    size = math.isqrt(scale)

    def line(head: str, cells: list[str], between: str) -> str:
        return head + between.join("".join(cells[start : start + size]) for start in range(0, scale, size))

    lines = [line("  ", [f" C{col}" for col in range(1, scale + 1)], "  ")]
    rule = "   " + "-" * (len(lines[0]) - 3)
    for row in range(1, scale + 1):
        lines.append(line(f"R{row}", [" {}"] * scale, " |"))
        if row % size == 0 and row < scale:
            lines.append(rule)
    return "\n".join(lines)
