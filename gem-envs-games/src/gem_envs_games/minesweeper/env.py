"""Minesweeper: reveal every cell that holds no mine."""

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.minesweeper.solver import neighbours, safest_cell
from gem_envs_games.replies import INTEGER, box, fields, last_box_counts

_ACTION = fields("([A-Za-z]{1,20})", INTEGER, INTEGER)


class Minesweeper(DrawnSettings, BoardGame):
    r"""Reveal every cell without a mine; a number says how many of a cell's up to 8 neighbours hold one.

    The first observation has the rules, and each one has the board. An action is `\boxed{reveal 2 3}` or
    `\boxed{flag 2 3}` (which puts a flag on a hidden cell, or takes it off): row, then column, both from 0.

    The rules are those of Simon Tatham's Mines (chiark.greenend.org.uk/~sgtatham/puzzles/doc/mines.html) and of
    Microsoft's Minesweeper: the game is won when every safe cell is revealed, flags or not; revealing a cell with
    no mine beside it reveals its neighbours too, and so on; a flag keeps its cell from being revealed, by the player
    and by its neighbours. The mines are placed after the first reveal, never on its cell, and not beside it either if
    the board has room for that at any cell: the rules in the observation say which.

    Rewards, as in gem-llm: each reveal earns the share of the safe cells that it reveals, so a won game sums to 1. A
    mine ends the game with 0, and a reply without an action costs 0.1 and loses. An action that the rules do not
    allow (off the board, a revealed or flagged cell, another command) uses up a turn and changes nothing.

    The expert reveals what is certainly safe, else the cell with the least chance of a mine given what the player
    sees. It may lose by bad luck.

    Args:
        rows: of the board, 2 to 30.
        cols: of the board, 2 to 30.
        num_mines: from 1 to one less than there are cells.
        max_turns: actions in an episode, flags included.

    Where any of the four is None, each episode draws a square board of 5 to 8 rows with a mine on every fifth cell
    (rounded down), and allows as many turns as there are cells.
    """

    def __init__(
        self, rows: int | None = 8, cols: int | None = 8, num_mines: int | None = 10, max_turns: int | None = 64
    ) -> None:
        super().__init__(max_turns=max_turns)
        self._fix_or_draw(rows=rows, cols=cols, num_mines=num_mines)

    def _draw(self) -> None:
        size = self.rng.randint(5, 8)
        self._configure(size, size, size * size // 5)
        self.max_turns = size * size

    def _configure(self, rows: int, cols: int, num_mines: int) -> None:
        self.rows = check_int("rows", rows, 2, 30)
        self.cols = check_int("cols", cols, 2, 30)
        cells = self.rows * self.cols
        self.num_mines = check_int(f"num_mines on {rows} x {cols} cells", num_mines, 1, cells - 1)
        # A cell in the middle has the most neighbours: where they can be safe, those of every cell can.
        self._wide_start = self.num_mines <= cells - min(self.rows, 3) * min(self.cols, 3)

    def _start(self) -> str:
        self.mines: frozenset[int] = frozenset()
        self.flags: set[int] = set()
        # What the player sees: a number, or None for a hidden cell.
        self.visible: list[int | None] = [None] * (self.rows * self.cols)
        # The same as the board shows it, each cell three characters wide.
        self._symbols = ["  ."] * (self.rows * self.cols)
        start = "and all around it are safe" if self._wide_start else "is safe, those around it may not be"
        mines = "1 mine" if self.num_mines == 1 else f"{self.num_mines} mines"
        return self._ask(
            f"You are playing Minesweeper on a board of {self.rows} rows and {self.cols} columns with {mines}.\n"
            "Reveal every cell without a mine to win; flags are not needed for that. Revealing a mine loses the game.\n"
            "A revealed cell shows how many of the up to 8 cells around it hold a mine. If it shows 0, the cells "
            "around it are revealed too, and so on, except flagged ones.\n"
            f"The mines are placed after your first reveal: that cell {start}.\n"
            f"Rows are numbered 0 to {self.rows - 1} from the top, columns 0 to {self.cols - 1} from the left. "
            "Your moves name the row first:\n"
            "- \\boxed{reveal 0 1} reveals the cell in row 0, column 1.\n"
            "- \\boxed{flag 0 1} puts a flag on that hidden cell, or takes it off again. A flagged cell cannot be "
            "revealed.\n"
            f"You have {self.max_turns} turns; each move takes one, also one that is not possible.\n"
            f"{last_box_counts('move')}\n"
            "On the board, '.' is a hidden cell, 'F' a flagged one, and a number a revealed one."
        )

    def _step(self, action: str) -> Step:
        match = boxed(action, _ACTION.fullmatch)
        if match is None:
            return self._unreadable("give a command, a row and a column")
        command, row, col = match[1].lower(), int(match[2]), int(match[3])
        tried = f"At turn {self.turn}, you chose to {command} the cell in row {row}, column {col}"
        if command not in ("reveal", "flag"):
            return self._ongoing(f"{tried}, but '{command}' is no command: 'reveal' and 'flag' are.")
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            return self._ongoing(
                f"{tried}, which is not on the board: its rows are 0 to {self.rows - 1} and its columns 0 to "
                f"{self.cols - 1}."
            )
        cell = row * self.cols + col
        if self.visible[cell] is not None:
            return self._ongoing(f"{tried}, which is already revealed.")
        if command == "flag":
            self.flags ^= {cell}
            self._symbols[cell] = "  F" if cell in self.flags else "  ."
            return self._ongoing(f"{tried}: the flag is {'on' if cell in self.flags else 'off'}.")
        if cell in self.flags:
            return self._ongoing(f"{tried}, which has a flag: take the flag off first.")
        return self._reveal(cell, tried)

    def _reveal(self, cell: int, tried: str) -> Step:
        if not self.mines:
            self.mines = self._place_mines(cell)
        if cell in self.mines:
            for mine in self.mines:
                self._symbols[mine] = "  *"
            return self._ended(f"{tried}: it is a mine. You lose. '*' shows the mines.", 0.0, success=False)
        revealed = self._open(cell)
        reward = revealed / (len(self.visible) - self.num_mines)
        if self.visible.count(None) == self.num_mines:
            return self._ended(f"{tried}. Congratulations! Every safe cell is revealed.", reward, success=True)
        cells = "1 cell was" if revealed == 1 else f"{revealed} cells were"
        return self._ongoing(f"{tried}: {cells} revealed.", reward)

    def _place_mines(self, first: int) -> frozenset[int]:
        safe = {first, *neighbours(self.rows, self.cols)[first]} if self._wide_start else {first}
        return frozenset(
            self.rng.sample([cell for cell in range(len(self.visible)) if cell not in safe], self.num_mines)
        )

    def _open(self, cell: int) -> int:
        """Reveal `cell` and what follows from it, and return how many cells that were."""
        around = neighbours(self.rows, self.cols)
        waiting = {cell}
        revealed = 0
        while waiting:
            current = waiting.pop()
            number = len(self.mines.intersection(around[current]))
            self.visible[current] = number
            self._symbols[current] = f"  {number}"
            revealed += 1
            if number == 0:
                waiting.update(o for o in around[current] if self.visible[o] is None and o not in self.flags)
        return revealed

    def _board(self) -> str:
        numbers = [f"{number:>3}" for number in range(max(self.rows, self.cols))]
        rows = [self._symbols[start : start + self.cols] for start in range(0, len(self._symbols), self.cols)]
        lines = [number + "".join(row) for number, row in zip(numbers, rows, strict=False)]
        return "\n".join(["   " + "".join(numbers[: self.cols]), *lines])

    def sample_action(self) -> str:
        r"""Reveal a hidden cell without a flag, with a chance of 0.9; else, or if there is none, flag a hidden cell."""
        hidden = [cell for cell, number in enumerate(self.visible) if number is None]
        bare = [cell for cell in hidden if cell not in self.flags]
        if bare and self.action_rng.random() < 0.9:
            return self._reply("reveal", self.action_rng.choice(bare))
        return self._reply("flag", self.action_rng.choice(hidden))

    def expert_action(self) -> str:
        """Reveal the safest cell, after taking its flag off if it has one."""
        if self.mines:
            cell = safest_cell(self.visible, self.rows, self.cols, self.num_mines)
        else:
            cell = self.rows // 2 * self.cols + self.cols // 2
        return self._reply("flag" if cell in self.flags else "reveal", cell)

    def _reply(self, command: str, cell: int) -> str:
        return box(f"{command} {cell // self.cols} {cell % self.cols}")
