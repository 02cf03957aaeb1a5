"""The base of board games in which a line of the own marks wins."""

from abc import abstractmethod

from gem.core import Step
from gem_envs_arena.game import TwoPlayerGame, box, read_move


class LineGame(TwoPlayerGame):
    """A game whose players put marks on a board in turn, X first, until there is a line or no free place."""

    @abstractmethod
    def _board(self) -> str:
        """The board as text."""

    @abstractmethod
    def _place(self, move: str) -> bool:
        """Put the mark of `player` where a legal move says; returns whether it completes a line."""

    @property
    def mark(self) -> str:
        """The mark of `player`."""
        return "XO"[self.players.index(self.player)]

    def _request(self) -> str:
        moves = ", ".join(self.legal)
        return f"{self._board()}\nYou are {self.mark}. Legal moves: {moves}. Your move, such as {box(self.legal[0])}:"

    def _step(self, action: str) -> Step:
        move = read_move(action, self.legal)
        if move is None:
            return self._forfeit()
        complete = self._place(move)
        line = f"The {self.player} player ({self.mark}) plays {move}."
        if complete:
            rewards = {self.player: 1.0, self.other: -1.0}
            return self._end(f"{line}\n{self._board()}\nThe {self.player} player wins.", rewards, [self.player])
        if not self.legal:
            return self._end(f"{line}\n{self._board()}\nThe game is a draw.", dict.fromkeys(self.players, 0.0), [])
        self._tell(line)
        return self._next(self.other)
