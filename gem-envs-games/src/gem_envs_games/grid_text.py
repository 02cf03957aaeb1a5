"""What the games on a grid of letters share: rows and columns numbered from 0, as text."""

from collections.abc import Iterable
from functools import cache


@cache
def head(cols: int) -> str:
    """The line above the grid, which numbers its columns."""
    return "    " + " ".join(f"C{col:02}" for col in range(cols))


def line(row: int, cells: Iterable[str]) -> str:
    """One row of the grid; each cell is text of 3 characters, such as " A " or "[A]"."""
    return f"R{row:02} " + " ".join(cells)
