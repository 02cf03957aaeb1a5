"""Rows of data sets: evaluations ask other questions than training.

The seed of an episode draws its row, so seeds that are never trained on do not keep rows from being trained on.
"""

import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

from gem import seeding
from gem.rollout import Start
from gem.rollout.starts import ByWeight

HELD_OUT = 5
"""One of so many rows is kept for the evaluation, where it has the table of training."""

T = TypeVar("T")


class Table(NamedTuple):
    """The rows of a data set as an env asks them, with the question at an index."""

    rows: Sequence[Any]
    question: Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Name of an env → the rows that are `trained` on, and those that evaluations ask; only data sets are in them."""

    trained: Mapping[str, Sequence[int]]
    evaluated: Mapping[str, Sequence[int]]
    notes: Sequence[str] = field(default=(), compare=False)
    """What else is to be known, in words: how many questions both had."""

    def train(self, start: Start) -> Start:
        """The start at a row that is trained on; one that has a row already keeps it."""
        rows = _of(self.trained, start)
        if rows is None or start.options is not None:
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
    """Divide the rows of data sets: what an evaluation asks is not trained on, in whichever table it stands.

    Questions that differ only in spaces and capitals are the same. Training that would have no row left keeps all.

    Args:
        trained: name → table, for the environments of training.
        evaluated: the same for those of evaluations. Of a table that is trained on, some rows are drawn.
        seed: of the run.
        most: how many rows of a table an evaluation asks at most.
    """
    if not evaluated:
        return Rows({name: range(len(table.rows)) for name, table in trained.items()}, {})
    of_rows: dict[int, array[int]] = {}  # of tables that several envs share, and in training and evaluation alike

    def numbered(table: Table) -> "array[int]":
        if id(table.rows) not in of_rows:
            of_rows[id(table.rows)] = array("Q", map(_number, map(table.question, range(len(table.rows)))))
        return of_rows[id(table.rows)]

    questions = {name: numbered(table) for name, table in trained.items()}
    everything = {each for its in questions.values() for each in its}
    kept: dict[str, Sequence[int]] = {}
    asked: set[int] = set()
    notes: list[str] = []
    for name, table in evaluated.items():
        its = numbered(table)
        if len(its) > 1 and its in questions.values():
            # The same rows, whichever envs have this table.
            drawn = random.Random(seeding.derive(seed, "rows")).sample(
                range(len(its)), min(most, max(1, len(its) // HELD_OUT))
            )
            kept[name] = sorted(drawn)
        else:
            kept[name] = range(len(its))[:most]
            if twice := sum(its[row] in everything for row in kept[name]):
                notes.append(
                    f"{twice:,} of the {len(kept[name]):,} questions of the evaluation on {name} are in the data of "
                    "training too, and are not trained on"
                )
        asked |= {its[row] for row in kept[name]}
    rows: dict[str, Sequence[int]] = {}
    for name, its in questions.items():
        rows[name] = [row for row, each in enumerate(its) if each not in asked]
        if not rows[name]:
            rows[name] = range(len(its))
            notes.append(
                f"every question of {name} is asked in the evaluation, and trained on all the same: its success there "
                "says nothing about other questions"
            )
    return Rows(rows, kept, notes)


def _number(question: Any) -> int:
    """A number for a question, the same for the same one."""
    text = " ".join(str(question).split()).casefold()
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big")
