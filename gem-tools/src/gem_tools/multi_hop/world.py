"""The facts of the corpus that ships, as a graph: things, and the values of their relations."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gem_tools.search.corpus import SHIPPED


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing with a document."""

    id: str
    kind: str
    title: str
    text: str
    facts: Mapping[str, str | int]
    """Relation → the id of another thing, or a number."""


@dataclass(frozen=True, slots=True)
class World:
    """All things by id and by kind, and all facts: things with a relation that they have."""

    things: Mapping[str, Thing]
    by_kind: Mapping[str, tuple[Thing, ...]]
    facts: tuple[tuple[Thing, str], ...]

    def value(self, thing: Thing, relation: str) -> Thing | int:
        """The value of a relation."""
        value = thing.facts[relation]
        return self.things[value] if isinstance(value, str) else value


@cache
def world() -> World:
    """The world, read once per process and shared by all envs."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in files("gem_tools").joinpath(SHIPPED).read_text("utf-8").splitlines()
    ]
    things = {row["id"]: Thing(**row) for row in rows}
    kinds = sorted({thing.kind for thing in things.values()})
    by_kind = {kind: tuple(thing for thing in things.values() if thing.kind == kind) for kind in kinds}
    return World(things, by_kind, tuple((thing, relation) for thing in things.values() for relation in thing.facts))
