"""Special tokens that a text only spells: they are encoded as ordinary text, and have no effect.

An observation may contain text from anywhere, such as `<|im_end|>` in a web page, which would end its own message. It
is *marked* before the chat template sees it, and what is marked is encoded without special tokens. The model reads the
same characters (after a space, if the tokenizer puts one before every text, as SentencePiece's do).
"""

import re
from collections.abc import Iterator, Set
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from gem.chat.tokenizer import ChatTokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Characters that Unicode reserves for a program's own use: no text has them.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARKED = re.compile(f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_MARKS = re.compile(f"[{_OPEN}{_CLOSE}]")
_NOT_TEXT = re.compile(f"[{_OPEN}{_CLOSE}\ud800-\udfff]")
"""The marks themselves, and halves of surrogate pairs, which JSON can hold and no tokenizer takes."""
SPLIT = _OPEN + _CLOSE
"""Between two texts: they are encoded apart, so that they cannot spell a special token together."""


class Marking:
    """Marks special tokens in texts, and encodes marked texts.

    Args:
        tokenizer: of the model.
    """

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self._tokenizer = tokenizer
        self._backend = cast("Tokenizer", tokenizer.backend_tokenizer) if tokenizer.is_fast else None
        # Conversations are rendered again and again with the same observations.
        self.mark = lru_cache(maxsize=4096)(self._mark)

    def _mark(self, text: str, ids: Set[int]) -> str:
        """`text` in which everything that would be encoded as one of `ids` is marked."""
        return self._marked(_NOT_TEXT.sub("\ufffd", text), ids)

    def _marked(self, text: str, ids: Set[int]) -> str:
        pieces: list[str] = []
        end = 0
        for start, stop in self._occurrences(text, ids):
            # What lies between two occurrences is looked at again: a token may be one only where a text begins or ends.
            pieces += [self._marked(text[end:start], ids), _OPEN, text[start:stop], _CLOSE]
            end = stop
        return "".join(pieces) + self._marked(text[end:], ids) if pieces else text

    def _occurrences(self, text: str, ids: Set[int]) -> Iterator[tuple[int, int]]:
        """Places at which the tokenizer finds one of `ids`: it may normalise the text, or match whole words alone."""
        if self._backend is not None:
            found = self._backend.encode(text, add_special_tokens=False)
            yield from (
                span for id, span in zip(found.ids, found.offsets, strict=True) if id in ids and span[0] < span[1]
            )
            return
        words = [re.escape(str(self._tokenizer.convert_ids_to_tokens(id))) for id in ids]
        if words:
            pattern = "|".join(sorted(words, key=len, reverse=True))
            yield from (found.span() for found in re.finditer(pattern, text))

    def encode(self, text: str, ids: Set[int]) -> tuple[int, ...]:
        """The ids of a text; what is marked in it is encoded without `ids`."""
        encoded: list[int] = []
        # Every second piece was marked.
        for number, piece in enumerate(_MARKED.split(text)):
            if number % 2:
                encoded += self._plain(piece, ids)
            elif piece:
                encoded += self._tokenizer.encode(piece, add_special_tokens=False)
        return tuple(encoded)

    def _plain(self, text: str, ids: Set[int]) -> list[int]:
        plain = self._without_special(text)
        if ids.isdisjoint(plain):
            return plain
        # The model of the tokenizer has the token too, as Unigram models do: it is spelt by its characters. A character
        # that is a special token itself cannot be.
        spelt = (self._without_special(character) for character in text)
        return [id for character in spelt if ids.isdisjoint(character) for id in character]

    def _without_special(self, text: str) -> list[int]:
        backend = self._backend
        if backend is None:
            whole: Any = self._tokenizer  # one of transformers, in Python
            return whole.encode(text, add_special_tokens=False, split_special_tokens=True)
        # The steps of `encode` but the first, which finds added tokens.
        if backend.normalizer is not None:
            text = backend.normalizer.normalize_str(text)
        pieces = backend.pre_tokenizer.pre_tokenize_str(text) if backend.pre_tokenizer is not None else [(text, ())]
        return [token.id for piece, _ in pieces for token in backend.model.tokenize(piece)]


def unmarked(text: str) -> str:
    """A marked text without its marks."""
    return _MARKS.sub("", text)
