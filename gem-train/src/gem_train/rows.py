"""Rows of data sets: evaluations ask others than training.

The seed of an episode draws its row, so seeds that are never trained on do not keep rows from being trained on.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gem import seeding
from gem.rollout import Start
from gem.rollout.starts import ByWeight

HELD_OUT = 5
"""One of so many rows is kept for the evaluation, where it has the table of training."""

Table = Sequence[Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rows:
    """Name of an env → the rows that are `trained` on, and those that evaluations ask; only data sets are in them."""

    trained: Mapping[str, Sequence[int]]
    evaluated: Mapping[str, Sequence[int]]

    def train(self, start: Start) -> Start:
        """The start at a row that is trained on."""
        rows = _of(self.trained, start)
        if rows is None:
            return start
        return replace(start, options={"index": rows[seeding.derive(start.seed, "row") % len(rows)]})

    def evaluate(self, seeds: Iterable[int], shares: Mapping[str, float]) -> Iterator[Start]:
        """A start for each seed, with envs by weight; each row of a data set once, and then no more of it."""
        left = {id: iter(rows) for id, rows in self.evaluated.items()}
        for start in map(ByWeight(shares).start, seeds):
            rows = _of(left, start)
            if rows is None:
                yield start
            elif (index := next(rows, None)) is not None:
                yield replace(start, options={"index": index})


NO_ROWS = Rows({}, {})
"""Rows of envs without data sets."""


def _of(found: Mapping[str, T], start: Start) -> T | None:
    # Of several ids, each start has one; it has none where there is one id alone.
    return found.get(start.id) if start.id is not None else next(iter(found.values()), None)


def split(trained: Mapping[str, Table], evaluated: Mapping[str, Table], *, seed: int, most: int) -> Rows:
    """Divide the rows of data sets.

    Args:
        trained: name → table, for the environments of training.
        evaluated: the same for those of evaluations. Of a table that is trained on, some rows are drawn.
        seed: of the run.
        most: how many rows of a table an evaluation asks at most.
    """
    rows = {id: range(len(table)) for id, table in trained.items()}
    kept: dict[str, Sequence[int]] = {}
    for id, table in evaluated.items():
        shared = [each for each, other in trained.items() if _same(table, other)]
        if not shared or len(table) < 2:
            kept[id] = range(len(table))[:most]
            continue
        # The same rows, whichever envs have this table.
        drawn = random.Random(seeding.derive(seed, "rows")).sample(
            range(len(table)), min(most, max(1, len(table) // HELD_OUT))
        )
        kept[id] = sorted(drawn)
        rows |= {each: [row for row in range(len(table)) if row not in kept[id]] for each in shared}
    return Rows(rows, kept)


def _same(one: Table, other: Table) -> bool:
    return one is other or (len(one) == len(other) and all(a == b for a, b in zip(one, other, strict=True)))
