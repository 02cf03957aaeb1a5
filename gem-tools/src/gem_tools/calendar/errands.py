"""Tasks for the calendar: a week to begin with, errands in words, and the week that they lead to."""

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple, TypeVar

from gem_tools.calendar.week import CLOSES, DAYS, OPENS, Event, Todo, Week, clock

Entry = TypeVar("Entry", Event, Todo)

_PEOPLE = ("Ada", "Alan", "Barbara", "Edsger", "Emmy", "Grace", "Kurt", "Sofia")
TITLES = tuple(
    f"{what} {who}" for what in ("Meeting with", "Call with", "Lunch with", "Interview with") for who in _PEOPLE
)
TODOS = tuple(
    f"{verb} {thing}"
    for verb in ("order", "renew", "return", "repair")
    for thing in ("the tickets", "the library books", "the bicycle", "the projector", "the passport")
)
MOST_EVENTS = 16
MOST_TODOS = 10
MOST_ERRANDS = 8

_LONGEST = 2
"""Hours of the longest event that a task makes."""


class Task(NamedTuple):
    """What an episode is about."""

    week: Week
    """Where it starts; the agent's tools change this very object."""
    errands: tuple[str, ...]
    goal: Week
    """A week that says what the first one says once the errands are done."""


class _Draft:
    """A task in the making: the week after the errands so far, and what none of them has touched."""

    def __init__(self, week: Week, titles: Sequence[str], todos: Sequence[str], rng: Random) -> None:
        self.week, self.rng = week, rng
        self.titles, self.todos = list(titles), list(todos)
        self.touched: set[str] = set()

    def event(self) -> Event | None:
        """An event that no errand has touched, touched from now on."""
        return self._touch(self.week.events.values())

    def todo(self) -> Todo | None:
        """A to-do that no errand has touched, touched from now on."""
        return self._touch(self.week.todos.values())

    def move(self) -> tuple[Event, str] | None:
        """An event that no errand has touched, and another day on which it has room."""
        event = self.event()
        day = None if event is None else self.day(event.hours, other_than=event.day)
        return None if event is None or day is None else (event, day)

    def day(self, hours: int, other_than: str = "") -> str | None:
        """A day on which an event of this length has room."""
        days = [day for day in DAYS if day != other_than and self.week.free(day, hours)]
        return self.rng.choice(days) if days else None

    def _touch(self, entries: Iterable[Entry]) -> Entry | None:
        left = [entry for entry in entries if entry.id not in self.touched]
        if not left:
            return None
        entry = self.rng.choice(left)
        self.touched.add(entry.id)
        return entry


def draw(rng: Random, *, events: int, todos: int, errands: int) -> Task:
    """A week with so many events and open to-dos, and errands that can all be done in the order in which they stand."""
    titles, texts = rng.sample(TITLES, len(TITLES)), rng.sample(TODOS, len(TODOS))
    week = Week()
    for _ in range(events):
        hours = rng.randint(1, _LONGEST)
        day = rng.choice([day for day in DAYS if week.free(day, hours)])
        week.add_event(titles.pop(), day, clock(rng.choice(week.free(day, hours))), hours)
    for _ in range(todos):
        week.add_todo(texts.pop())
    draft = _Draft(week.copy(), titles, texts, rng)
    return Task(week, tuple(_errand(draft) for _ in range(errands)), draft.week)


def _errand(draft: _Draft) -> str:
    """The words of one more errand, which is carried out on the draft."""
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
    days = [day for day in DAYS if _untouched(draft, draft.week.on(day))]
    if not days:
        return None
    day = draft.rng.choice(days)
    for event in draft.week.on(day):
        draft.week.delete_event(event.id)
    return f"Cancel everything on {day}."


def _add(draft: _Draft) -> str | None:
    hours = draft.rng.randint(1, _LONGEST)
    day = draft.day(hours)
    if day is None or not draft.titles:
        return None
    event = draft.week.add_event(draft.titles.pop(), day, clock(draft.week.free(day, hours)[0]), hours)
    draft.touched.add(event.id)
    return f'Add "{event.title}" on {day}, as early as it fits; it takes {"1 hour" if hours == 1 else "2 hours"}.'


def _tick(draft: _Draft) -> str | None:
    todo = draft.todo()
    if todo is None:
        return None
    draft.week.complete_todo(todo.id)
    return f'Tick off the to-do "{todo.text}".'


def _new_todo(draft: _Draft) -> str:
    todo = draft.week.add_todo(draft.todos.pop())
    draft.touched.add(todo.id)
    return f'Put "{todo.text}" on the to-do list.'


def _untouched(draft: _Draft, events: list[Event]) -> bool:
    return len(events) > 1 and draft.touched.isdisjoint(event.id for event in events)


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
