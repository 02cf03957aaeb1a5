"""Few different starts, and rows of a data set that occur again."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from gem.audit.finding import Finding
from gem.audit.task import Task

FEW = 30
"""Starts, as many as a model learns by heart."""
REPEATED = 0.01
"""The share of rows that may occur again."""


def probe(task: Task) -> Iterator[Finding]:
    """Seeds start different episodes, and rows of a data set are different."""
    if rows := task.rows:
        counts = Counter(row.question for row in rows)
        repeated = sum(count - 1 for count in counts.values())
        if repeated > REPEATED * len(rows):
            most = max(counts, key=counts.__getitem__)
            index = [row.index for row in rows if row.question == most][1]
            yield Finding(
                f"{repeated} of {len(rows)} rows ask what an earlier row asks.",
                "Leave rows out that occur again: they weigh more than others, and may be in several splits.",
                options={"index": index},
            )
        return
    courses = [episode.lines for episode in task.courses]
    counts = Counter(courses)
    pairs = len(courses) * (len(courses) - 1) // 2
    alike = _pairs(counts)
    # Where most episodes that look alike at first are not, the start is hidden, and nobody can learn it by heart.
    if 2 * alike < _pairs(Counter(course[0] for course in courses)):
        return
    # Of n starts with equal chances one pair in n is alike, so this is the number of starts that would be as alike.
    if alike * FEW > pairs:
        most = max(counts, key=counts.__getitem__)
        yield Finding(
            f"{len(courses)} seeds start {len(counts)} different episodes, as if there were {pairs / alike:.0f} "
            "starts.",
            "Draw more of the start from self.rng: a model learns so few starts by heart.",
            task.courses[courses.index(most)].seed,
        )


def _pairs(counts: Counter[Any]) -> int:
    """The pairs of equal things."""
    return sum(count * (count - 1) // 2 for count in counts.values())
