"""Fifteen Puzzle: slide the tiles of a square into ascending order."""

from functools import cache
from operator import eq

from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games.board_game import BoardGame
from gem_envs_games.directions import direction
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.fifteen_puzzle.solver import Board, path_back, rest_of_path, scrambled, slide, slides, solve, solved
from gem_envs_games.replies import box, last_box_counts

_SHOWN = ("__", *(f"{tile:2}" for tile in range(1, 25)))
"""Tile → its two characters on the board."""


class FifteenPuzzle(DrawnSettings, BoardGame):
    r"""Bring the tiles of a square into ascending order by sliding them into its one empty cell.

    The first observation has the rules, and each one has the board. An action is `\boxed{up}`, `down`, `left` or
    `right`: where a tile next to the empty cell slides.

    The board is scrambled by sliding tiles at random, never one straight back, so every board can be solved (which is
    true of half of all arrangements: W. W. Johnson and W. E. Story, "Notes on the '15' puzzle", American Journal of
    Mathematics 2, 1879) and within `scramble` moves. No board is solved at the start.

    Rewards, as in gem-llm: 1 for solving it; 0 for any other move, except that the last turn, if it does not solve it,
    earns the share of the cells, the empty one included, that are as they should be. A reply without a direction
    costs 0.1 and loses. A direction in which no tile can slide uses up a turn and changes nothing.

    The expert takes the shorter of two paths: the scramble backwards, and the one that `solve` finds, which is a
    shortest one for 2 and 3 rows.

    Args:
        max_turns: moves in an episode. With 2 rows and 8 turns or more a fixed list of moves wins nearly every game.
        num_rows: 2 to 5; the square has as many columns.
        scramble: the most moves of the scramble, from 1 to `max_turns`; each episode draws from half of it up to it.
            None takes `max_turns`, but no more than 200.

    Where `num_rows` or `max_turns` is None, each episode draws 2 rows and 10 turns, 3 and 20, or 4 and 50; `scramble`
    has to be None too.
    """

    def __init__(self, max_turns: int | None = 20, num_rows: int | None = 2, scramble: int | None = None) -> None:
        super().__init__(max_turns=max_turns)
        self._fix_or_draw(num_rows=num_rows)
        if scramble is not None:
            if self._draws:
                raise ConfigError("scramble has to be None where num_rows or max_turns is drawn in each episode")
            check_int("scramble, so that max_turns suffice,", scramble, 1, max_turns)
        self.scramble = scramble

    def _configure(self, num_rows: int) -> None:
        self.num_rows = check_int("num_rows", num_rows, 2, 5)

    def _draw(self) -> None:
        self.num_rows, self.max_turns = self.rng.choice(((2, 10), (3, 20), (4, 50)))

    def _start(self) -> str:
        self.solved = solved(self.num_rows)
        most = self.scramble or min(self.turn_limit, 200)
        self.board: Board = self.solved
        while self.board == self.solved:
            self._scramble = self.rng.randbytes(most - int(self.rng.random() * (most // 2 + 1)))
            self.board = scrambled(self._scramble, self.num_rows)
        self._path: dict[Board, str] | None = None
        self._searched = False
        return self._ask(_rules(self.num_rows, self.max_turns))

    def _step(self, action: str) -> Step:
        name = direction(action)
        if name is None:
            return self._unreadable("give a direction")
        empty = self.board.index(0)
        cell = slides(self.num_rows)[empty].get(name)
        if cell is None:
            return self._ongoing(f"At turn {self.turn}, you tried to slide a tile {name}, but none can slide there.")
        message = f"At turn {self.turn}, you slid tile {self.board[cell]} {name}."
        self.board = slide(self.board, empty, cell)
        if self.board == self.solved:
            return self._ended(f"{message} Congratulations! The puzzle is solved.", 1.0, success=True)
        return self._ongoing(message)

    def _partial_reward(self) -> float:
        return sum(map(eq, self.board, self.solved)) / len(self.board)

    def _board(self) -> str:
        cells = [_SHOWN[tile] for tile in self.board]
        return "\n".join([" ".join(cells[row : row + self.num_rows]) for row in range(0, len(cells), self.num_rows)])

    def sample_action(self) -> str:
        """A random direction in which a tile can slide."""
        return box(self.action_rng.choice(list(slides(self.num_rows)[self.board.index(0)])))

    def expert_action(self) -> str:
        """The next move of the path that was found first, or of a new one if the player has left it."""
        if self._path is None:
            self._path = path_back(self._scramble, self.num_rows)
        if not self._searched or self.board not in self._path:
            paths = [solve(self.board, self.num_rows)]
            if self.board in self._path:
                paths.append(rest_of_path(self._path, self.board, self.num_rows))
            self._path = min(paths, key=len)
            self._searched = True
        return box(self._path.get(self.board, "up"))


@cache
def _rules(num_rows: int, max_turns: int | None) -> str:
    last = num_rows**2 - 1
    return (
        f"You are playing the {last}-puzzle: {last} tiles and one empty cell, '__', on a board of {num_rows} "
        f"rows and {num_rows} columns.\n"
        f"Slide the tiles until they stand in ascending order from 1 to {last}, row by row from the top left, "
        "with the empty cell at the bottom right. That wins.\n"
        "A move slides one tile next to the empty cell into it:\n"
        "- \\boxed{up} slides the tile below the empty cell up.\n"
        "- \\boxed{down} slides the tile above it down.\n"
        "- \\boxed{left} slides the tile on its right to the left.\n"
        "- \\boxed{right} slides the tile on its left to the right.\n"
        f"You have {max_turns} turns, which is enough; each move takes one, also one that is not possible.\n"
        + last_box_counts("move")
    )
