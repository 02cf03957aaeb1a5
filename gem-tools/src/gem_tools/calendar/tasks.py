"""Assignments for the calendar: a week to begin with, tasks in words, and the week that they lead to."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from random import Random
from typing import NamedTuple, TypeVar

from gem_tools.calendar.week import CLOSES, DAYS, OPENS, Event, Todo, Week, clock

_Item = TypeVar("_Item", Event, Todo)

_PEOPLE = (
    "Ada", "Alan", "Barbara", "Carl", "Donald", "Edsger", "Emmy", "Evelyn", "Frances", "Grace", "Henri", "Ida", "John",
    "Katherine", "Kurt", "Leonhard", "Mary", "Niklaus", "Olga", "Sofia",
)  # fmt: skip
TITLES = tuple(
    f"{what} with {who}"
    for what in ("Meeting", "Call", "Lunch", "Interview", "Rehearsal", "Lesson", "Visit", "Review")
    for who in _PEOPLE
)
TODOS = tuple(
    f"{verb} {thing} for {who}"
    for verb in ("order", "renew", "return", "repair")
    for thing in ("the tickets", "the library books", "the bicycle", "the projector", "the passport")
    for who in _PEOPLE
)
MOST_EVENTS = 16
MOST_TODOS = 10
MOST_TASKS = 8

_LONGEST = 2
"""Hours of the longest event in an assignment."""


class Assignment(NamedTuple):
    """The calendar and the tasks of an episode."""

    week: Week
    """Week at the start of the episode; the agent's tools change this object."""
    tasks: tuple[str, ...]
    """Tasks of the agent, a sentence each."""
    goal: Week
    """A week that holds what the first one holds once the tasks are done."""


class _Draft:
    """An assignment being made: the week after the tasks so far, and what they have changed."""

    def __init__(self, week: Week, titles: Sequence[str], todos: Sequence[str], rng: Random) -> None:
        self.week, self.rng = week, rng
        self.titles, self.todos = list(titles), list(todos)
        self.changed: set[str] = set()

    def event(self) -> Event | None:
        """An event that no task has changed; it counts as changed from now on."""
        return self._choose(self.week.events.values())

    def todo(self) -> Todo | None:
        """A to-do that no task has changed; it counts as changed from now on."""
        return self._choose(self.week.todos.values())

    def move(self) -> tuple[Event, str] | None:
        """An event that no task has changed, and another day with room for it."""
        event = self.event()
        day = None if event is None else self.day(event.hours, other_than=event.day)
        return None if event is None or day is None else (event, day)

    def day(self, hours: int, other_than: str = "") -> str | None:
        """A day with room for an event of this length."""
        days = [day for day in DAYS if day != other_than and self.week.free(day, hours)]
        return self.rng.choice(days) if days else None

    def _choose(self, items: Iterable[_Item]) -> _Item | None:
        left = [item for item in items if item.id not in self.changed]
        if not left:
            return None
        item = self.rng.choice(left)
        self.changed.add(item.id)
        return item


def draw(rng: Random, *, events: int, todos: int, tasks: int) -> Assignment:
    """A week with so many events and open to-dos, and tasks that can all be done in the order given."""
    titles, texts = rng.sample(TITLES, len(TITLES)), rng.sample(TODOS, len(TODOS))
    week = Week()
    for _ in range(events):
        hours = rng.randint(1, _LONGEST)
        day = rng.choice([day for day in DAYS if week.free(day, hours)])
        week.add_event(titles.pop(), day, clock(rng.choice(week.free(day, hours))), hours)
    for _ in range(todos):
        week.add_todo(texts.pop())
    draft = _Draft(deepcopy(week), titles, texts, rng)
    return Assignment(week, tuple(_task(draft) for _ in range(tasks)), draft.week)


def _task(draft: _Draft) -> str:
    """One more task in words, carried out on the draft."""
    for kind in draft.rng.sample(_KINDS, len(_KINDS)):
        words = kind(draft)
        if words is not None:
            return words
    return _new_todo(draft)


def _move_to_free(draft: _Draft) -> str | None:
    found = draft.move()
    if found is None:
        return None
    event, day = found
    first = draft.rng.choice([True, False])
    draft.week.move_event(event.id, day, clock(draft.week.free(day, event.hours)[0 if first else -1]))
    when = "as early as it fits" if first else "as late as it fits"
    return f'Move "{event.title}" from {event.day} to {day}, {when}.'


def _move_to_hour(draft: _Draft) -> str | None:
    found = draft.move()
    if found is None:
        return None
    event, day = found
    start = clock(draft.rng.choice(draft.week.free(day, event.hours)))
    draft.week.move_event(event.id, day, start)
    return f'Move "{event.title}" to {day} at {start}.'


def _cancel(draft: _Draft) -> str | None:
    event = draft.event()
    if event is None:
        return None
    draft.week.delete_event(event.id)
    return f'Cancel "{event.title}".'


def _clear(draft: _Draft) -> str | None:
    days = [day for day in DAYS if _unchanged(draft, draft.week.on(day))]
    if not days:
        return None
    day = draft.rng.choice(days)
    kept = draft.rng.choice(draft.week.on(day))
    draft.changed.add(kept.id)
    for event in draft.week.on(day):
        if event != kept:
            draft.week.delete_event(event.id)
    return f'Cancel everything on {day} but "{kept.title}".'


def _add(draft: _Draft) -> str | None:
    hours = draft.rng.randint(1, _LONGEST)
    day = draft.day(hours)
    if day is None:
        return None
    event = draft.week.add_event(draft.titles.pop(), day, clock(draft.week.free(day, hours)[0]), hours)
    draft.changed.add(event.id)
    return f'Add "{event.title}" on {day}, as early as it fits; it takes {"1 hour" if hours == 1 else "2 hours"}.'


def _tick(draft: _Draft) -> str | None:
    todo = draft.todo()
    if todo is None:
        return None
    draft.week.complete_todo(todo.id)
    return f'Tick off the to-do "{todo.text}".'


def _new_todo(draft: _Draft) -> str:
    todo = draft.week.add_todo(draft.todos.pop())
    draft.changed.add(todo.id)
    return f'Put "{todo.text}" on the to-do list.'


def _unchanged(draft: _Draft, events: list[Event]) -> bool:
    return len(events) > 1 and draft.changed.isdisjoint(event.id for event in events)


_KINDS: tuple[Callable[[_Draft], str | None], ...] = (
    _move_to_free,
    _move_to_hour,
    _cancel,
    _clear,
    _add,
    _tick,
    _new_todo,
)

RULES = (
    f"An event lies between {clock(OPENS)} and {clock(CLOSES)} on one day, starts on a full hour and takes one or "
    "more whole hours. Events cannot overlap."
)
