"""The English words of the word games; data/WORDS.md says where they come from."""

from functools import cache
from importlib.resources import files

SHORTEST, LONGEST = 3, 8
"""Numbers of letters of the shortest and of the longest words."""


@cache
def common_words(length: int) -> tuple[str, ...]:
    """The words of `length` letters that most people know, in capitals and in order."""
    return _by_length("words_common.txt")[length]


@cache
def known_words(length: int) -> tuple[str, ...]:
    """All words of `length` letters that the pack knows, in capitals: first the common ones, then the others."""
    return common_words(length) + _by_length("words_more.txt")[length]


@cache
def _by_length(name: str) -> dict[int, tuple[str, ...]]:
    words = files("gem_envs_games").joinpath("data", name).read_text(encoding="ascii").upper().split()
    return {length: tuple(word for word in words if len(word) == length) for length in range(SHORTEST, LONGEST + 1)}


def is_word(word: str) -> bool:
    """Tell whether the pack knows this word, given in capitals."""
    return word in _all_words()


@cache
def _all_words() -> frozenset[str]:
    return frozenset(word for length in range(SHORTEST, LONGEST + 1) for word in known_words(length))
