"""Crosswords: fill a grid of crossing words, letter by letter, from a clue for each word."""

from string import ascii_uppercase

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games import grid_text
from gem_envs_games.board_game import BoardGame
from gem_envs_games.crosswords.clues import clued_words, clues
from gem_envs_games.crosswords.grids import CELLS_FOR_A_WORD, GridWord, make_crossword
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import INTEGER, box, fields, last_box_counts

_ACTION = fields(INTEGER, INTEGER, "([A-Za-z])")


class Crosswords(DrawnSettings, BoardGame):
    r"""Fill in words that cross, each from a clue with its place, its direction and its length.

    The first observation has the rules, and each one has the grid, the clues, and the letters that were wrong. An
    action is `\boxed{0 3 E}`: row and column (both from 0) and the letter to write there, in either case.

    The grid is that of a crossword without black blocks (en.wikipedia.org/wiki/Crossword): all words are connected,
    letters side by side are part of a word with a clue, and words are numbered row by row, by their first cells.
    As in gem-llm, a letter that is not the solution's is refused: the answer says that it is
    wrong, and the cell stays empty. The grid has no more cells than there are turns.

    Rewards, as in gem-llm: each right letter earns 1 / the number of cells, so a won game sums to 1. A wrong letter,
    and a cell that takes no letter (outside the grid, empty by design, filled before), uses up a turn and earns
    nothing. A reply without a move costs 0.1 and loses.

    The expert writes the letters of the solution, row by row.

    Args:
        hardcore: draw the words from the pack's rarer ones, which are also clued less directly.
        max_turns: letters in an episode, wrong ones included; at least 6 for each word.
        num_words: 1 to 10.

    Where any of the three is None, each episode draws whether it is hardcore, and has 3 words and 20 turns.
    """

    def __init__(self, hardcore: bool | None = False, max_turns: int | None = 100, num_words: int | None = 5) -> None:
        super().__init__(max_turns=max_turns)
        self._fix_or_draw(hardcore=hardcore, num_words=num_words)

    def _draw(self) -> None:
        self.hardcore = self.rng.random() < 0.5
        self.num_words, self.max_turns = 3, 20

    def _configure(self, hardcore: bool, num_words: int) -> None:
        self.hardcore = hardcore
        self.num_words = check_int("num_words", num_words, 1, 10)
        if self.turn_limit < CELLS_FOR_A_WORD * num_words:
            raise ConfigError(
                f"max_turns is at least {CELLS_FOR_A_WORD} for each of the {num_words} words, not {self.max_turns}"
            )

    def _start(self) -> str:
        self.entries = make_crossword(clued_words(self.hardcore), self.num_words, self.turn_limit, self.rng)
        self.solution = {
            cell: letter for entry in self.entries for cell, letter in zip(entry.cells, entry.word, strict=True)
        }
        self.rows = max([row for row, _ in self.solution]) + 1
        self.cols = max([col for _, col in self.solution]) + 1
        self.grid = [["."] * self.cols for _ in range(self.rows)]
        for row, col in self.solution:
            self.grid[row][col] = "_"
        self.wrong: list[str] = []
        # Lines of the board that most moves leave as they are.
        self._grid_lines = [grid_text.header(self.cols), *[self._grid_line(row) for row in range(self.rows)]]
        self._clue_lines = "\n".join(["Clues:", *[self._clue(entry) for entry in self.entries]])
        words = "1 word" if self.num_words == 1 else f"{self.num_words} words"
        return self._ask(
            f"You are playing Crosswords: a grid with {words} and {len(self.solution)} empty cells.\n"
            "Write the right letter into every empty cell to win. Each clue names the cell where its word begins, its "
            "direction (across is to the right) and its length. Where words cross, they share a letter.\n"
            "Your move names the row, the column and the letter, for example \\boxed{0 3 E} for an E in row 0, column "
            f"3. Rows are numbered 0 to {self.rows - 1} from the top, columns 0 to {self.cols - 1} from the left.\n"
            "I tell you whether the letter is right. A right one stays, a wrong one is not written.\n"
            f"You have {self.max_turns} turns, which is enough; each move takes one, also one that is wrong or not "
            "possible.\n"
            f"{last_box_counts('move')}\n"
            "On the grid, '_' is an empty cell, and no letter goes where '.' stands."
        )

    def _grid_line(self, row: int) -> str:
        return grid_text.line(row, [f" {symbol} " for symbol in self.grid[row]])

    def _clue(self, entry: GridWord) -> str:
        clue = clues(self.hardcore)[entry.word]
        return f"{_name(entry)}, row {entry.row}, column {entry.col}, {len(entry.word)} letters: {clue}"

    def _step(self, action: str) -> Step:
        match = boxed(action, _ACTION.fullmatch)
        if match is None:
            return self._unreadable("give a row, a column and a letter")
        row, col, letter = int(match[1]), int(match[2]), match[3].upper()
        move = f"{letter} in row {row}, column {col}"
        wrong = self._objection(row, col)
        if wrong:
            return self._ongoing(f"At turn {self.turn}, you tried to write {move}, but {wrong}.")
        if self.solution[row, col] != letter:
            self.wrong.append(f"{letter} at ({row}, {col})")
            return self._ongoing(f"At turn {self.turn}, you tried to write {move}, but that letter is wrong.")
        self.grid[row][col] = letter
        self._grid_lines[row + 1] = self._grid_line(row)
        message = f"At turn {self.turn}, you wrote {move}, which is right."
        reward = 1 / len(self.solution)
        if not self._empty():
            return self._ended(f"{message} Congratulations! The crossword is complete.", reward, success=True)
        return self._ongoing(message, reward)

    def _objection(self, row: int, col: int) -> str | None:
        """The reason why no letter can be written there, or None if one can."""
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            return f"rows are 0 to {self.rows - 1} and columns 0 to {self.cols - 1}"
        if self.grid[row][col] == ".":
            return "no letter goes there"
        if self.grid[row][col] != "_":
            return f"{self.grid[row][col]} stands there, which is right"
        return None

    def _solution(self) -> str:
        words = ", ".join(f"{_name(entry)} {entry.word}" for entry in self.entries)
        return f" The words were: {words}."

    def _empty(self) -> list[tuple[int, int]]:
        """The cells that still need a letter, row by row."""
        return [(row, col) for row, line in enumerate(self.grid) for col, symbol in enumerate(line) if symbol == "_"]

    def _board(self) -> str:
        wrong = f"Wrong letters so far: {', '.join(self.wrong) or 'none'}"
        return "\n".join([*self._grid_lines, self._clue_lines, wrong])

    def sample_action(self) -> str:
        """A random letter for a random empty cell."""
        row, col = self.action_rng.choice(self._empty() or list(self.solution))
        return box(f"{row} {col} {self.action_rng.choice(ascii_uppercase)}")

    def expert_action(self) -> str | None:
        """The letter of the solution for the first empty cell."""
        return next((box(f"{row} {col} {self.solution[row, col]}") for row, col in self._empty()), None)


def _name(entry: GridWord) -> str:
    return f"{entry.number} {'down' if entry.down else 'across'}"
