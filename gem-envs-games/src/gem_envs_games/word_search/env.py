"""WordSearch: find the words that are hidden in a grid of letters."""

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games import grid_text
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import INTEGER, box, fields, last_box_counts
from gem_envs_games.word_search.grids import Hidden, make_word_search

_ACTION = fields(*[INTEGER] * 4)

Ends = tuple[int, int, int, int]
"""Row and column of one end of a line of letters, then of the other, both counted from 0."""


class WordSearch(DrawnSettings, BoardGame):
    r"""Find every hidden word, to the right or down, by the cells of its first and its last letter.

    The first observation has the rules, and each one has the grid, with found words in brackets, what is left to find,
    and the lines that were not a hidden word. An action is `\boxed{2 0 2 4}`: row and column of the first letter, then
    of the last (all from 0), or the other way round.

    The puzzle is the usual one (en.wikipedia.org/wiki/Word_search), with two of its eight directions, as in gem-llm.
    The words to find are listed; `hardcore` does not list them and gives only their lengths. Each is in the grid
    exactly once, and with `hardcore` no other word of the pack's list with the length of one of them reads to the right
    or down.

    Rewards, as in gem-llm: each word earns 1 / num_words, so a won game sums to 1. A line that is not a hidden word, or
    that is refused (outside the grid, not in a row or column, tried before), uses up a turn and earns nothing. A
    reply without four numbers costs 0.1 and loses.

    The expert knows the places.

    Args:
        hardcore: do not list the words, which then have 5 letters or more and are drawn from all words of the pack, not
            only from the common ones.
        max_turns: lines in an episode; at least 1 for each word.
        num_words: 1 to 15.

    Where any of the three is None, each episode draws whether it is hardcore, and has 5 words and 20 turns.
    """

    def __init__(self, hardcore: bool | None = False, max_turns: int | None = 20, num_words: int | None = 5) -> None:
        super().__init__(max_turns=max_turns)
        self._fix_or_draw(hardcore=hardcore, num_words=num_words)

    def _draw(self) -> None:
        self.hardcore = self.rng.random() < 0.5
        self.num_words, self.max_turns = 5, 20

    def _configure(self, hardcore: bool, num_words: int) -> None:
        self.hardcore = hardcore
        self.num_words = check_int("num_words", num_words, 1, 15)
        if self.turn_limit < num_words:
            raise ConfigError(f"max_turns is at least 1 for each of the {num_words} words, not {self.max_turns}")

    def _start(self) -> str:
        rows, self.hidden = make_word_search(self.num_words, not self.hardcore, self.rng)
        self.size = len(rows)
        self.found: list[Hidden] = []
        self.missed: list[Ends] = []
        self._cells = [[f" {letter} " for letter in row] for row in rows]
        self._grid_lines = [grid_text.header(self.size), *map(grid_text.line, range(self.size), self._cells)]
        words = "1 English word is" if self.num_words == 1 else f"{self.num_words} English words are"
        if self.hardcore:
            listed = (
                "I do not tell you the words. Below the grid you see their lengths. They are in American spelling; "
                "plurals and other forms count as words. The grid has no other word that I know of such a length, read "
                "to the right or down."
            )
        else:
            listed = "The words are listed below the grid."
        return self._ask(
            f"You are playing Word Search: {words} hidden in a grid of {self.size} rows and {self.size} columns. Find "
            "all to win.\n"
            "A word reads to the right or down, never backwards or diagonally. Words may cross; each is there once.\n"
            f"{listed}\n"
            "Your move names the row and the column of the word's first letter, then those of its last letter, for "
            "example \\boxed{2 0 2 4} for the 5 letters from row 2, column 0 to row 2, column 4. The last letter may "
            f"come first. Rows are numbered 0 to {self.size - 1} from the top, columns 0 to {self.size - 1} from the "
            "left.\n"
            f"You have {self.max_turns} turns; each move takes one, also one that is refused because it is not "
            "possible or was made before.\n"
            f"{last_box_counts('move')}\n"
            "On the grid, [ ] marks the letters of the words that you have found."
        )

    def _step(self, action: str) -> Step:
        match = boxed(action, _ACTION.fullmatch)
        if match is None:
            return self._unreadable("give two rows and two columns")
        row, col, last_row, last_col = map(int, match.groups())
        message = f"At turn {self.turn}, you chose row {row}, column {col} to row {last_row}, column {last_col}"
        ends = (row, col, last_row, last_col) if (row, col) <= (last_row, last_col) else (last_row, last_col, row, col)
        wrong = self._objection(ends)
        if wrong:
            return self._ongoing(f"{message}, but {wrong}.")
        for place in self.hidden:
            if place.ends == ends:
                return self._find(place, message)
        self.missed.append(ends)
        return self._ongoing(f"{message}, which is not a hidden word.")

    def _objection(self, ends: Ends) -> str | None:
        """The reason why this line is refused, or None."""
        row, col, last_row, last_col = ends
        if min(ends) < 0 or max(ends) >= self.size:
            return f"rows and columns are 0 to {self.size - 1}"
        if row != last_row and col != last_col:
            return "a word stays in one row or in one column"
        if ends in self.missed or any(place.ends == ends for place in self.found):
            return "you have tried that before"
        return None

    def _find(self, place: Hidden, message: str) -> Step:
        self.found.append(place)
        for row, col in place.cells:
            self._cells[row][col] = f"[{self._cells[row][col][1]}]"
            self._grid_lines[row + 1] = grid_text.line(row, self._cells[row])
        message = f"{message}: you found {place.word}."
        reward = 1 / self.num_words
        if len(self.found) == self.num_words:
            return self._ended(f"{message} Congratulations! You found every word.", reward, success=True)
        return self._ongoing(message, reward)

    def _solution(self) -> str:
        left = ", ".join(f"{place.word} at {_plain(place.ends)}" for place in self._left())
        return f" The words left were: {left}."

    def _left(self) -> list[Hidden]:
        return [place for place in self.hidden if place not in self.found]

    def _board(self) -> str:
        left = self._left()
        if self.hardcore:
            lengths = ", ".join(map(str, sorted(len(place.word) for place in left)))
            to_find = f"Lengths of the words to find: {lengths or 'none left'}"
        else:
            to_find = f"Words to find: {', '.join(place.word for place in left) or 'none left'}"
        found = ", ".join(place.word for place in self.found) or "none so far"
        missed = ", ".join(map(_plain, self.missed)) or "none so far"
        return "\n".join([*self._grid_lines, to_find, f"Found: {found}", f"Lines without a hidden word: {missed}"])

    def sample_action(self) -> str:
        """A random line, to the right or down, that is as long as one of the hidden words; tried before or not."""
        further = len(self.action_rng.choice(self.hidden).word) - 1
        along, beside = self.action_rng.randrange(self.size - further), self.action_rng.randrange(self.size)
        if self.action_rng.random() < 0.5:
            return box(_plain((along, beside, along + further, beside)))
        return box(_plain((beside, along, beside, along + further)))

    def expert_action(self) -> str | None:
        """The ends of the next word."""
        return next((box(_plain(place.ends)) for place in self._left()), None)


def _plain(ends: Ends) -> str:
    return " ".join(map(str, ends))
