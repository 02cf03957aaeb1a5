"""What the games with a board share: the board in every observation."""

from abc import abstractmethod

from gem.core import Step
from gem.turn_env import TurnEnv


class BoardGame(TurnEnv):
    """A game whose every observation ends with the board and, while the game goes on, asks for a move."""

    @abstractmethod
    def _board(self) -> str:
        """The board as the player sees it, without a newline at the end."""

    def _last_words(self) -> str:
        """What the player is told besides when the turns are used up, with a space before it."""
        return ""

    def _ask(self, said: str) -> str:
        return f"{said}\n{self._board()}\nEnter your move."

    def _ongoing(self, said: str, reward: float = 0.0) -> Step:
        """The step of a move that did not end the game: it is cut off if no turn is left."""
        if self.last_turn:
            end = f"{said}{self._last_words()} That was your last turn: you lose."
            return Step.cut_off(f"{end}\n{self._board()}", reward)
        return Step.ongoing(self._ask(said), reward)

    def _ended(self, said: str, reward: float, *, success: bool) -> Step:
        """The step of a move that won or lost the game."""
        return Step.final(f"{said}\n{self._board()}", reward, success=success)
