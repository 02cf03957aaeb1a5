"""Wordle: how a guess is marked, and a guess that all marks so far allow."""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from gem_envs_games.words import common_words

Marked = tuple[str, str]
"""A guess and its marks."""

_CANDIDATES = 40
"""The most words that are compared with each other, as guess and as secret."""


def marks(secret: str, guess: str) -> str:
    """G, Y or X for each letter of `guess`: right place, other place, or no such letter (left).

    Each letter of the secret accounts for one mark: for a G first, and what no G has used up for Ys from the left.
    """
    answer = ""
    left: list[str] | None = None
    for letter, guessed in zip(secret, guess):  # noqa: B905 - `strict` costs a tenth, and lengths are checked before
        if letter == guessed:
            answer += "G"
        elif guessed not in secret:  # as for most letters, and then nothing needs to be counted
            answer += "X"
        else:
            if left is None:
                left = [hidden for hidden, other in zip(secret, guess, strict=True) if hidden != other]
            if guessed in left:
                left.remove(guessed)
                answer += "Y"
            else:
                answer += "X"
    return answer


def consistent_words(words: Iterable[str], marked: tuple[Marked, ...]) -> list[str]:
    """The ones of `words` that would have got the same marks."""
    for guess, answer in marked:
        words = [word for word in words if marks(word, guess) == answer]
    return list(words)


@lru_cache(maxsize=4096)
def best_guess(length: int, marked: tuple[Marked, ...]) -> str:
    """One of the common words that all marks allow: the one whose marks are expected to leave the fewest of them.

    Of many words only some, evenly spaced in the list, are compared with each other.
    """
    words = consistent_words(common_words(length), marked)
    some = words[:: -(-len(words) // _CANDIDATES)]

    def left(guess: str) -> int:
        """The words that the marks of `guess` leave, summed over all that may be the secret."""
        return sum(count * count for count in Counter(marks(word, guess) for word in some).values())

    return min(some, key=left)
