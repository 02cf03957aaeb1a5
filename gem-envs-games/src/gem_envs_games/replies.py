"""What the games share about replies: how a move is written, and how it is read."""

import re

INTEGER = r"(-?[0-9]{1,9})"
"""The pattern of a whole number; a longer one is out of every game's range."""

_BETWEEN = re.compile(r"[\s,]+")
_LETTERS = re.compile(r"[A-Za-z]+")


def box(move: str) -> str:
    """The reply that makes a move."""
    return f"\\boxed{{{move}}}"


def last_box_counts(move: str) -> str:
    """What the rules say about replies; `move` is what the game calls a move."""
    return (
        f"You may say what you like; the last {move} inside \\boxed{{}} counts. A reply without a {move} loses "
        "the game."
    )


def fields(*patterns: str) -> re.Pattern[str]:
    """The pattern of a move whose parts have these patterns and stand between spaces or commas."""
    return re.compile(r"\s*" + r"[\s,]+".join(patterns) + r"\s*")


def letters(content: str) -> str | None:
    """The letters in a box, in capitals; None if there is anything else but spaces and commas."""
    if content.isascii() and content.isalpha():  # nearly always, and much the quickest
        return content.upper()
    joined = _BETWEEN.sub("", content)
    return joined.upper() if _LETTERS.fullmatch(joined) else None
