"""Ids of one class that differ in level, or in the data that they ask."""

import re
from collections.abc import Iterator

from gem.audit.task import Task
from gem.packs.registry import registry
from gem.packs.spec import EnvId, EnvSpec
from gem.testing.subject import unavailable

_LEVELS = ("easy", "", "hard", "extreme-hard")
_LEVEL = re.compile(r"(?:^|-)(extreme-hard|hard|easy)(?=-|$)")


def level(spec: EnvSpec) -> tuple[str, int]:
    """What all levels of a task have in common, and the number of this one: `("game:Sokoban-v0 forgiving", 2)`."""
    parts = EnvId.parse(spec.id)
    variant = parts.variant or ""
    found = _LEVEL.search(variant)
    rest = _LEVEL.sub("", variant).strip("-")
    return f"{parts._replace(variant=None)} {rest}", _LEVELS.index(found[1] if found else "")


def harder(task: Task) -> Task | None:
    """The task of the next harder level, if there is one."""
    common, own = level(task.spec)
    found = [other for other in _siblings(task) if (place := level(other.spec))[0] == common and place[1] > own]
    return min(found, key=lambda other: level(other.spec)[1], default=None)


def other_data(task: Task) -> Iterator[Task]:
    """The tasks of the same class that ask other rows; of two ids that share rows, one says so."""
    for other in _siblings(task):
        if other.spec.id > task.spec.id and other.spec.kwargs.get("data") != task.spec.kwargs.get("data"):
            yield other


def _siblings(task: Task) -> Iterator[Task]:
    """Tasks of the same class."""
    for entry in registry().entries():
        spec = entry.spec
        if spec.entry_point == task.spec.entry_point and spec.id != task.spec.id and unavailable(spec) is None:
            yield Task(spec, entry.pack)
