"""Grids of letters as text, with rows and columns numbered from 0."""

from collections.abc import Iterable
from functools import cache


@cache
def header(cols: int) -> str:
    """The line above the grid: the numbers of its columns."""
    return "    " + " ".join(f"C{col:02}" for col in range(cols))


def line(row: int, cells: Iterable[str]) -> str:
    """A row of the grid; each cell is a text of 3 characters, such as " A " or "[A]"."""
    return f"R{row:02} " + " ".join(cells)
