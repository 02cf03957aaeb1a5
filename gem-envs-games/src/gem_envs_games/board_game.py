"""The base of games with a board."""

from abc import abstractmethod

from gem.core import Step
from gem.turn_env import TurnEnv


class BoardGame(TurnEnv):
    """A game with a limit on turns whose every observation ends with the board and, until the end, asks for a move."""

    @abstractmethod
    def _board(self) -> str:
        """The board as the player sees it, without a newline at the end."""

    def _solution(self) -> str:
        """The text for the player when the turns are used up, with a space before it."""
        return ""

    def _partial_reward(self) -> float:
        """The additional reward of the last turn if it does not end the game."""
        return 0.0

    @property
    def turn_limit(self) -> int:
        """`max_turns`, which every episode has."""
        assert self.max_turns is not None
        return self.max_turns

    def _ask(self, message: str) -> str:
        return f"{message}\n{self._board()}\nEnter your move."

    def _ongoing(self, message: str, reward: float = 0.0) -> Step:
        """The step of a move that did not end the game; it is truncated if no turn is left."""
        if self.last_turn:
            end = f"{message}{self._solution()} That was your last turn: you lose."
            return Step.cut_off(f"{end}\n{self._board()}", reward + self._partial_reward())
        return Step.ongoing(self._ask(message), reward)

    def _ended(self, message: str, reward: float, *, success: bool) -> Step:
        """The step of a move that won or lost the game."""
        return Step.final(f"{message}\n{self._board()}", reward, success=success)

    def _unreadable(self, wanted: str) -> Step:
        """The step of a reply without a move, which loses the game; `wanted` says what it lacks: "give a number"."""
        return self.malformed(f"At turn {self.turn}, you did not {wanted} inside \\boxed{{}}. You lose.")
