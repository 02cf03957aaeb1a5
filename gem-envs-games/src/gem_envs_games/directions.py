"""The moves of games that are played by directions: up, down, left and right."""

from gem.answers.parsing import boxed

DIRECTIONS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Name of a direction → how many rows down and columns to the right a step goes."""


def direction(action: str) -> str | None:
    """The direction in the last box of a reply that holds one, in any case and with any space around it; else None."""
    return boxed(action, _named)


def _named(content: str) -> str | None:
    name = content.strip().lower()
    return name if name in DIRECTIONS else None
