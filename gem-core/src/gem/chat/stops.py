"""Texts at which a reply ends, found as its tokens arrive."""

from collections.abc import Sequence
from functools import lru_cache

from gem.chat.encoder import ChatEncoder

_INCOMPLETE = "\ufffd"
"""The text to which a part of a character is decoded."""


class StopTexts:
    """Test of replies for stop texts, token by token; mostly the last token alone tells.

    Args:
        chat: its tokenizer made the tokens.
    """

    def __init__(self, chat: ChatEncoder) -> None:
        self._chat = chat
        self._piece = lru_cache(maxsize=65536)(self._decode)

    def _decode(self, token: int) -> str:
        return self._chat.text((token,))

    def reached(self, stops: Sequence[str], ids: Sequence[int]) -> bool:
        """True if `ids` reach one of `stops` with the last of them. An earlier one would have ended the reply."""
        if not stops:
            return False
        piece = self._piece(ids[-1])
        # Spaces at the end of a text may be dropped, and a token may hold only a part of a character.
        if _INCOMPLETE not in piece and not any(stop[-1] in piece or stop[-1].isspace() for stop in stops):
            return False
        # At most one token per byte; and one more, because some tokenizers drop a space at the beginning of a text.
        most = max(len(stop.encode()) for stop in stops) + 1
        tail = self._chat.text(tuple(ids[-most:]))
        return any(stop in tail for stop in stops)
