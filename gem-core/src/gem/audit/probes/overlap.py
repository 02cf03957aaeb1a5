"""The same questions in two data sets, and the same starts in two levels."""

from collections.abc import Iterator

from gem.audit.finding import Finding
from gem.audit.siblings import harder, other_data
from gem.audit.task import Task
from gem.testing.subject import Inapplicable

SHARED_ROWS = 0.01
SHARED_STARTS = 0.5
"""The shares that may be alike: rows of two splits by accident, starts of levels whose ranges are nested."""


def probe(task: Task) -> Iterator[Finding]:
    """Splits share no rows, and levels few starts."""
    if rows := task.rows:
        for other in other_data(task):
            theirs = {row.question: row.index for row in other.rows}
            both = [row for row in rows if row.question in theirs]
            if both and len(both) > SHARED_ROWS * min(len(rows), len(theirs)):
                yield Finding(
                    f"{len(both)} of {len(rows)} rows are in {other.spec.id} too, the first as its row "
                    f"{theirs[both[0].question]}.",
                    "Take them out of one of the two: what is trained on must not be measured on.",
                    options={"index": both[0].index},
                )
        return
    other = harder(task)
    if other is None:
        raise Inapplicable("there is no other level, and no other data set, of it")
    theirs = {episode.lines for episode in other.courses}
    both = [episode for episode in task.courses if episode.lines in theirs]
    if len(both) > SHARED_STARTS * len(task.courses):
        yield Finding(
            f"{len(both)} of {len(task.courses)} seeds start an episode that {other.spec.id} has too.",
            "Give the levels different arguments.",
            both[0].seed,
        )
