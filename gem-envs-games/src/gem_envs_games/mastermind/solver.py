"""Mastermind: the pegs for a guess, and a guess that every answer so far allows."""

from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice, permutations, product
from math import perm
from operator import eq
from typing import NamedTuple

Code = tuple[int, ...]

MOST_LISTED = 5_000
"""The most codes that are listed, to draw from; of more, one is drawn place by place."""

_CANDIDATES = 60
"""The most possible secrets that a guess is compared with."""

_GUESSES = 20
"""The number of them that are tried as the next guess."""


class Marked(NamedTuple):
    """A guess and its answer."""

    guess: Code
    black: int
    white: int


@cache
def all_codes(length: int, numbers: int, repeats: bool) -> tuple[Code, ...] | None:
    """Every code that the rules allow, or None where there are more than `MOST_LISTED`."""
    if (numbers**length if repeats else perm(numbers, length)) > MOST_LISTED:
        return None
    every = range(1, numbers + 1)
    return tuple(product(every, repeat=length) if repeats else permutations(every, length))


def pegs(code: Code, guess: Code) -> tuple[int, int]:
    """Black pegs (right number, right place) and white pegs (right number, wrong place) for `guess`.

    Black and white together are the numbers that the two have in common, each as often as it is in both
    (D. E. Knuth, "The Computer as Master Mind", Journal of Recreational Mathematics 9, 1976).
    """
    black = sum(map(eq, code, guess))
    numbers = set(guess)
    if len(numbers) == len(guess):  # each counts once: the fast case
        return black, len(numbers.intersection(code)) - black
    return black, sum(min(code.count(number), guess.count(number)) for number in numbers) - black


def consistent_codes(length: int, numbers: int, repeats: bool, marked: tuple[Marked, ...]) -> Iterator[Code]:
    """Every code that would have got the same answers, found place by place."""

    def allowed(start: Code) -> bool:
        left = length - len(start)
        for guess, black, white in marked:
            matches = sum(map(eq, start, guess))
            if not black - left <= matches <= black:
                return False
            common = sum(min(start.count(number), guess.count(number)) for number in set(start))
            if not black + white - left <= common <= black + white:
                return False
        return True

    def complete(start: Code) -> Iterator[Code]:
        if len(start) == length:
            yield start
            return
        for step in range(numbers):
            # Each place starts with a different number, so that the codes found first are not all alike.
            number = (len(start) + step) % numbers + 1
            code = (*start, number)
            if (repeats or number not in start) and allowed(code):
                yield from complete(code)

    return complete(())


@lru_cache(maxsize=4096)
def best_guess(length: int, numbers: int, repeats: bool, marked: tuple[Marked, ...]) -> Code:
    """One of the codes that every answer allows: the one whose answer is expected to leave the fewest of them.

    Only the first codes found are compared with each other, so that large games are fast too.
    """
    candidates = list(islice(consistent_codes(length, numbers, repeats, marked), _CANDIDATES))

    def left(guess: Code) -> int:
        """The candidates that the answer to `guess` leaves, summed over all that may be the secret."""
        return sum(count * count for count in Counter(pegs(code, guess) for code in candidates).values())

    return min(candidates[:_GUESSES], key=left)
