"""Questions that lead from a named thing through one or more facts to an answer."""

from itertools import combinations
from random import Random
from typing import NamedTuple

from gem_tools.multi_hop.relations import RELATIONS, SUBJECTS
from gem_tools.multi_hop.world import Thing, World, world


class Hop(NamedTuple):
    """One step to the answer: search for this title; its document answers the question."""

    title: str
    question: str
    answer: str


class Question(NamedTuple):
    text: str
    plan: tuple[Hop, ...]
    """The steps to the answer. The first title is in the text, each other one is the answer of the step before."""
    answers: tuple[str, ...]
    """Right answers: the title of the answer's document, or a shorter or longer form of it."""
    last: tuple[str, str]
    """The kind and the relation of the last hop."""


def draw(rng: Random, hops: int) -> Question:
    """A question of so many hops, all of which are needed.

    The question does not contain any name that is to be found; no document before the last contains the answer, and no
    document names an earlier thing, so that a search for an earlier thing does not find it.
    """
    while True:
        way = _walk(rng, world(), hops)
        if way is not None and _needs_every_hop(way):
            return _ask(*way)


def values(kind: str, relation: str) -> list[str]:
    """All values of this relation among things of this kind."""
    here = world()
    return [_name(here.value(thing, relation)) for thing in here.by_kind[kind] if relation in thing.facts]


Way = tuple[list[Thing], list[str], Thing | int]
"""The things whose documents are to be read, the relation taken from each, and the value of the last one."""


def _walk(rng: Random, here: World, hops: int) -> Way | None:
    """A random walk that starts with each fact of the world with equal probability; None if it ends too soon."""
    first, relation = rng.choice(here.facts)
    things, relations, value = [first], [relation], here.value(first, relation)
    for _ in range(hops - 1):
        if isinstance(value, int):
            return None
        things.append(value)
        relations.append(rng.choice(list(value.facts)))
        value = here.value(value, relations[-1])
    return things, relations, value


def _needs_every_hop(way: Way) -> bool:
    things, _, value = way
    hidden = [*(thing.title for thing in things[1:]), _name(value)]
    first = things[0].title
    if len(set(hidden)) < len(hidden) or any(name in first or first in name for name in hidden):
        return False
    if any(hidden[-1] in thing.text for thing in things[:-1]):
        return False
    return not any(earlier.title in later.text for earlier, later in combinations(things, 2))


def _ask(things: list[Thing], relations: list[str], value: Thing | int) -> Question:
    steps = [RELATIONS[thing.kind, relation] for thing, relation in zip(things, relations, strict=True)]
    names = [*(thing.title for thing in things[1:]), _name(value)]
    plan = tuple(
        Hop(thing.title, step.question.format(_subject(thing)), name)
        for thing, step, name in zip(things, steps, names, strict=True)
    )
    phrase = _subject(things[0])
    for step in steps[:-1]:
        assert step.noun is not None
        phrase = step.noun.format(phrase)
    text = steps[-1].question.format(phrase)
    return Question(text, plan, _accepted(value, steps[-1].unit), (things[-1].kind, relations[-1]))


def _subject(thing: Thing) -> str:
    return SUBJECTS[thing.kind].format(thing.title)


def _name(value: Thing | int) -> str:
    return str(value) if isinstance(value, int) else value.title


def _accepted(value: Thing | int, unit: str | None) -> tuple[str, ...]:
    name = _name(value)
    if isinstance(value, int):
        return (name,) if unit is None else (name, f"{name} {unit}")
    # "the Tessel" is as good as "River Tessel".
    short = name.removeprefix("River ").removeprefix("Mount ")
    return (name,) if short == name else (name, short)
