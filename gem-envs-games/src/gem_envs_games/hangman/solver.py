"""Hangman: the words that a pattern allows, and the guess whose answer is expected to leave the fewest of them."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from string import ascii_uppercase

from gem_envs_games.words import common_words, known_words


def secret_words(length: int, hardcore: bool) -> tuple[str, ...]:
    """The words of `length` letters that may be the secret."""
    return known_words(length) if hardcore else common_words(length)


def consistent_words(words: Iterable[str], pattern: str, tried: Iterable[str]) -> list[str]:
    """The ones of `words` that show `pattern` (with '_' for hidden letters) after the letters `tried`."""
    hidden = f"[^{''.join(tried)}]" if tried else "."
    shows = re.compile(pattern.replace("_", hidden))
    return [word for word in words if shows.fullmatch(word)]


@lru_cache(maxsize=4096)
def best_guess(pattern: str, hardcore: bool, tried: str, wrong: tuple[str, ...], last: bool) -> str:
    """A letter or a whole word.

    Args:
        pattern: the word with '_' for hidden letters.
        hardcore: whether any word that the pack knows may be the secret.
        tried: the letters guessed before.
        wrong: the words guessed before.
        last: whether this is the last guess, which has to be a word.
    """
    words = [w for w in consistent_words(secret_words(len(pattern), hardcore), pattern, tried) if w not in wrong]
    if last or len(words) <= 2:
        return words[0]

    def left(letter: str) -> int:
        """The words that the answer to `letter` leaves, summed over all that may be the secret."""
        return sum(count * count for count in Counter(_places(word, letter) for word in words).values())

    letter = min((letter for letter in ascii_uppercase if letter not in tried), key=left)
    return letter if left(letter) < len(words) ** 2 else words[0]


def _places(word: str, letter: str) -> tuple[int, ...]:
    return tuple(place for place, other in enumerate(word) if other == letter)
