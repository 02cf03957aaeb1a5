"""A text that grows by one piece per turn."""

from collections import deque

from gem.checks import check_int
from gem.core import Observation
from gem.errors import ConfigError


def line(text: str) -> str:
    """`text` with a newline at its end; an empty text stays empty."""
    return text if not text or text.endswith("\n") else text + "\n"


def check_length(max_history_length: int | None) -> int | None:
    """`max_history_length`, if it is None or an integer of at least 1; otherwise raises `ConfigError`."""
    return None if max_history_length is None else check_int("max_history_length", max_history_length, 1)


def text_of(observation: Observation) -> str:
    """`observation`, if it is text; raises `ConfigError` for a list of content parts."""
    if not isinstance(observation, str):
        raise ConfigError(
            "this wrapper joins texts, and the env's observation is a list of content parts; "
            "use ConcatChat with a tokenizer whose chat template takes them"
        )
    return observation


class TextHistory:
    """The first piece of an episode and the last `max_turns` of the others (all for None), as one string.

    Each turn copies the text, unless the caller has dropped the previous string: then it grows in place.
    """

    def __init__(self, max_turns: int | None) -> None:
        self.max_turns = max_turns
        self._text = ""
        self._first = 0
        self._lengths: deque[int] = deque()

    def start(self, piece: str) -> str:
        """Restart with `piece`."""
        self._text = piece
        self._first = len(piece)
        self._lengths.clear()
        return piece

    def add(self, piece: str) -> str:
        """Append the piece of one turn, and return the whole text."""
        # CPython appends in place to a string with one reference.
        text, self._text = self._text, ""
        text += piece
        if self.max_turns is not None:
            self._lengths.append(len(piece))
            if len(self._lengths) > self.max_turns:
                dropped = self._lengths.popleft()
                text = text[: self._first] + text[self._first + dropped :]
        self._text = text
        return text
