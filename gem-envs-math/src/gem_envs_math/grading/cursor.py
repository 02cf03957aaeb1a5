"""A place among the tokens of an answer."""

from collections.abc import Sequence
from itertools import pairwise

from gem_envs_math.grading.letters import Letters
from gem_envs_math.grading.tokens import Token, Unreadable

DEEPEST = 40
"""The most brackets inside each other."""


class Cursor:
    """Steps through the tokens of one answer.

    Args:
        found: its tokens.
        grouped: whether a comma between digits may separate thousands.
        plus: which sign a `±` stands for.
        letters: which letters may be units.
    """

    def __init__(self, found: Sequence[Token], *, letters: Letters, grouped: bool = True, plus: bool = True) -> None:
        self._found = list(found)
        self._letters_known = letters
        self._grouped = grouped
        self._plus = plus
        self._at: int = 0
        self._depth: int = 0
        self._bars = 0
        self._spaced_commas = any(token.value in (",", ";") and later.spaced for token, later in pairwise(found))
        self.has_sign_pair = False
        """A `±` was found, so the answer stands for two values."""
        self.has_letters = False
        """Letters were read as a unit, and may be variables."""

    def _value(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._found[at].value if at < len(self._found) else ""

    def _kind(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._found[at].kind if at < len(self._found) else ""

    def _word(self) -> str:
        """The value of this token, if it is a word or a sign; the content of a text is stripped."""
        return self._value().strip(" ,") if self._kind() == "text" else self._value()

    def _take(self, *values: str) -> bool:
        found, at = self._found, self._at  # called often
        if at < len(found) and found[at].value in values:
            self._at = at + 1
            return True
        return False

    def _need(self, value: str) -> None:
        if not self._take(value):
            raise Unreadable(f"{value!r} is missing")

    # Several answers, and relations.
