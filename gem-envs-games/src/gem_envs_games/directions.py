"""What the games share whose only moves are up, down, left and right."""

from gem.parsing import boxed

DIRECTIONS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""Rows and columns that a step goes, by the direction's name; row 0 is at the top."""


def direction(action: str) -> str | None:
    """The direction that the last box of a reply names which names one, or None; see `_named`."""
    return boxed(action, _named)


def _named(content: str) -> str | None:
    """The direction, in any case and with any space around it."""
    name = content.strip().lower()
    return name if name in DIRECTIONS else None


def say(name: str) -> str:
    """The reply that names this direction."""
    return f"\\boxed{{{name}}}"
