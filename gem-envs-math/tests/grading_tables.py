"""Tables of verdicts as text: cells with two blanks or more between them, each `VERDICT @ ANSWER @ GOLD`."""

import re
from collections.abc import Iterator

from gem_envs_math.grading import grade

Row = tuple[str, str, bool]
"""An answer, its gold, and whether it is right."""


def rows(table: str) -> Iterator[Row]:
    """The rows of a table."""
    for line in table.strip().split("\n"):
        for cell in re.split("  +", line.strip()):
            verdict, answer, gold = cell.split(" @ ")
            yield answer, gold, {"right": True, "wrong": False}[verdict]


def misjudged(table: str) -> list[Row]:
    """The rows on which the grader says something else. There have to be right ones and wrong ones."""
    found = list(rows(table))
    assert {right for _, _, right in found} == {True, False}
    return [row for row in found if grade(row[0], row[1]).right != row[2]]
