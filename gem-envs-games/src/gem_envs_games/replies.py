"""Writing and reading of replies: a move inside a box."""

import re
from functools import cache

INTEGER = r"(-?[0-9]{1,9})"
"""A pattern of integers; longer ones are out of range in every game."""

_BETWEEN = re.compile(r"[\s,]+")
_LETTERS = re.compile(r"[A-Za-z]+")


def box(move: str) -> str:
    """The reply that makes a move."""
    return f"\\boxed{{{move}}}"


@cache
def last_box_counts(move: str) -> str:
    """The rule about replies; `move` is the game's word for a move."""
    return (
        f"You may say what you like; the last {move} inside \\boxed{{}} counts. A reply without a {move} loses "
        "the game."
    )


def fields(*patterns: str) -> re.Pattern[str]:
    """The pattern of a move that has one group per given pattern, separated by spaces or commas."""
    return re.compile(r"\s*" + r"[\s,]+".join(patterns) + r"\s*")


def letters(content: str) -> str | None:
    """The letters in a box, in capitals; None if there is anything else but spaces and commas."""
    if content.isascii() and content.isalpha():  # nearly always, and by far the fastest
        return content.upper()
    joined = _BETWEEN.sub("", content)
    return joined.upper() if _LETTERS.fullmatch(joined) else None
