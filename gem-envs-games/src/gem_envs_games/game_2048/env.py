"""2048: slide and merge tiles until one of them reaches a target."""

from functools import cache

from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games.board_game import BoardGame
from gem_envs_games.directions import direction
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.game_2048.moves import Board, best_move, moved, moves
from gem_envs_games.replies import box, last_box_counts


class Game2048(DrawnSettings, BoardGame):
    r"""Slide all tiles in one direction after another; equal ones merge, and one of them has to reach the target.

    The first observation has the rules, and each one has the board. An action is `\boxed{up}`, `down`, `left` or
    `right`.

    The rules are those of G. Cirulli's 2048 (github.com/gabrielecirulli/2048): every tile slides as far as it can;
    two equal tiles that meet become one of their sum, which does not merge again in that move; of three in a line
    the two that are further in the direction of the move merge. After a move that changed the board a 2 (nine times
    of ten) or a 4 comes up in an empty cell, each as likely as another; the game starts with two such tiles. It is
    won when the target is there, and lost when no move would change the board.

    Rewards, as in gem-llm: a move after which the largest tile is larger than before earns that many doublings as a
    share of all that lead from the largest tile at the start to the target, so a won game sums to 1; a new tile counts
    from the next move on. Any other move earns 0. A reply without a direction costs 0.1 and loses. A move that changes
    nothing uses up a turn.

    The sum of the tiles grows by at most 4 per turn, so a target above ``4 * (max_turns + 2)`` is out of reach: then
    the return says how far the player came.

    Args:
        target_tile: a power of two, from 8 to the largest that fits on the board, or 131072 if that is less.
        max_turns: moves in an episode.
        board_size: 2 to 8 rows and columns.

    Where `target_tile` or `max_turns` is None, each episode draws 16 and 20 turns, 32 and 30, or 64 and 50; the board
    then has at least 3 rows.
    """

    def __init__(self, target_tile: int | None = 2048, max_turns: int | None = 1000, board_size: int = 4) -> None:
        super().__init__(max_turns=max_turns)
        self.board_size = check_int("board_size", board_size, 2, 8)
        self._fix_or_draw(target_tile=target_tile)
        if self._draws:
            check_int("board_size, where target_tile is drawn in each episode,", board_size, 3)

    def _configure(self, target_tile: int) -> None:
        # A last merge takes two equal tiles, each made of two, and so on down to two 4s: a cell for each.
        largest = 2 ** min(self.board_size**2 + 1, 17)
        self.target_tile = check_int(f"target_tile on a board of size {self.board_size}", target_tile, 8, largest)
        if target_tile.bit_count() != 1:
            raise ConfigError(f"target_tile is a power of two, not {target_tile}")

    def _draw(self) -> None:
        self.target_tile, self.max_turns = self.rng.choice(((16, 20), (32, 30), (64, 50)))

    def _start(self) -> str:
        cells = self.board_size**2
        board = [0] * cells
        first = int(self.rng.random() * cells)
        second = int(self.rng.random() * (cells - 1))
        for cell in (first, second + (second >= first)):
            board[cell] = 2 if self.rng.random() < 0.9 else 4
        self.board: Board = tuple(board)
        self._first = self._largest = max(board)
        return self._ask(_rules(self.target_tile, self.max_turns, self.board_size))

    def _add_tile(self) -> str:
        """Put a new tile on the board, and return what it is and where."""
        cell = self.rng.choice([cell for cell, tile in enumerate(self.board) if not tile])
        tile = 2 if self.rng.random() < 0.9 else 4
        self.board = (*self.board[:cell], tile, *self.board[cell + 1 :])
        row, col = divmod(cell, self.board_size)
        return f"a {tile} in row {row + 1}, column {col + 1}"

    def _step(self, action: str) -> Step:
        name = direction(action)
        if name is None:
            return self._unreadable("give a direction")
        after = moved(self.board, self.board_size, name)
        if after == self.board:
            return self._ongoing(f"At turn {self.turn}, you tried to move {name}, which changes nothing.")
        self.board = after
        reward = self._progress()
        message = f"At turn {self.turn}, you moved {name}."
        if self._largest >= self.target_tile:
            return self._ended(f"{message} Congratulations! You made {self._largest}.", reward, success=True)
        message += f" New: {self._add_tile()}."
        if 0 not in self.board and not moves(self.board, self.board_size):
            return self._ended(f"{message} No move is left. You lose.", reward, success=False)
        return self._ongoing(message, reward)

    def _progress(self) -> float:
        """The reward for what the largest tile has become."""
        before, self._largest = self._largest, max(self._largest, *self.board)
        doublings = self._largest.bit_length() - before.bit_length()
        return doublings / (self.target_tile.bit_length() - self._first.bit_length())

    def _board(self) -> str:
        width = max(4, len(str(max(self.board))))
        cells = [_shown(tile, width) for tile in self.board]
        size = self.board_size
        return "\n".join([" ".join(cells[start : start + size]) for start in range(0, len(cells), size)])

    def sample_action(self) -> str:
        """A random move that changes the board."""
        return box(self.action_rng.choice(list(moves(self.board, self.board_size)) or ["up"]))

    def expert_action(self) -> str:
        """The move of `best_move`, which sees no more than the player."""
        return box(best_move(self.board, self.board_size) or "up")


@cache
def _shown(tile: int, width: int) -> str:
    return f"{tile or '.':>{width}}"


@cache
def _rules(target_tile: int, max_turns: int | None, board_size: int) -> str:
    return (
        f"You are playing 2048 on a board of {board_size} rows and {board_size} columns.\n"
        f"Make a tile of {target_tile} to win. You lose when no move is left that changes the board.\n"
        "A move slides all tiles up, down, left or right, as far as they can. Two equal tiles that meet merge into "
        "one of their sum; the merged tile merges no further in the same move. Of three equal tiles in a line, the "
        "two nearest to the side moved to merge.\n"
        "After each move that changes the board, a new tile comes up in a random empty cell: a 2 (9 times of 10) "
        "or a 4.\n"
        "Your move is \\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right}.\n"
        f"You have {max_turns} turns; each move takes one, also one that changes nothing. Each doubling of "
        "your largest tile scores, even if you do not win.\n"
        f"{last_box_counts('move')}\n"
        "On the board, '.' is an empty cell."
    )
