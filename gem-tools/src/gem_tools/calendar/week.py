"""The state that the calendar's tools work on: the events of one working week, and a to-do list."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from gem.errors import ToolError

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
OPENS, CLOSES = 9, 17
"""An event is between these hours of one day, and starts on a full hour."""
LONGEST_TEXT = 80
"""Characters in a title or a to-do."""
MOST_TODOS = 100

Fact = tuple[str | int, ...]

_START = re.compile(r"([0-9]{1,2}):00")


class Refused(ToolError):
    """A change is not possible; the message says why, and nothing has changed."""


@dataclass(frozen=True)
class Event:
    """`hours` full hours from `start` o'clock on one day."""

    id: str
    title: str
    day: str
    start: int
    hours: int

    @property
    def end(self) -> int:
        """The hour at which it ends."""
        return self.start + self.hours

    @property
    def fact(self) -> Fact:
        """Content without the id."""
        return "event", self.title, self.day, self.start, self.hours

    def overlaps(self, other: Self) -> bool:
        """True if the two have an hour in common."""
        return self.day == other.day and self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"{self.id}: {self.day} {clock(self.start)}-{clock(self.end)} {self.title}"


@dataclass(frozen=True)
class Todo:
    """Something to do, ticked off or not."""

    id: str
    text: str
    done: bool = False

    @property
    def fact(self) -> Fact:
        """Content without the id."""
        return "to-do", self.text, self.done

    def __str__(self) -> str:
        return f"{self.id}: [{'x' if self.done else ' '}] {self.text}"


class Week:
    """Events that do not overlap, and to-dos, each with an id that is never used twice.

    Every method that changes something raises `Refused`, and changes nothing, if the change is not possible.
    """

    def __init__(self) -> None:
        self.events: dict[str, Event] = {}
        self.todos: dict[str, Todo] = {}
        self._ids = 0

    def add_event(self, title: str, day: str, start: str, hours: int = 1) -> Event:
        """Put a new event at `start`, such as "09:00"."""
        event = self._placed(Event(f"e{self._ids + 1}", _text(title), _day(day), _hour(start), hours))
        self._ids += 1
        self.events[event.id] = event
        return event

    def move_event(self, event_id: str, day: str, start: str) -> Event:
        """Let an event begin at another time; it keeps its id, its title and its length."""
        moved = self._placed(replace(self._event(event_id), day=_day(day), start=_hour(start)))
        self.events[event_id] = moved
        return moved

    def delete_event(self, event_id: str) -> Event:
        """Take an event out."""
        return self.events.pop(self._event(event_id).id)

    def add_todo(self, text: str) -> Todo:
        """Put a new to-do at the end of the list."""
        if len(self.todos) == MOST_TODOS:
            raise Refused(f"the list is full: it holds {MOST_TODOS} to-dos")
        todo = Todo(f"t{self._ids + 1}", _text(text))
        self._ids += 1
        self.todos[todo.id] = todo
        return todo

    def complete_todo(self, todo_id: str) -> Todo:
        """Tick a to-do off."""
        done = replace(self._todo(todo_id), done=True)
        self.todos[todo_id] = done
        return done

    def delete_todo(self, todo_id: str) -> Todo:
        """Take a to-do off the list."""
        return self.todos.pop(self._todo(todo_id).id)

    def on(self, day: str) -> list[Event]:
        """The events of a day in the order of their hours."""
        wanted = _day(day)
        return sorted((event for event in self.events.values() if event.day == wanted), key=lambda event: event.start)

    def free(self, day: str, hours: int = 1) -> list[int]:
        """The hours of a day at which an event of this length could start."""
        taken = [event for event in self.events.values() if event.day == day]
        slots = (Event("", "", day, start, hours) for start in range(OPENS, CLOSES - hours + 1))
        return [slot.start for slot in slots if not any(slot.overlaps(event) for event in taken)]

    def facts(self) -> Counter[Fact]:
        """The content without ids and order: two weeks are the same if these are equal."""
        return Counter(item.fact for item in (*self.events.values(), *self.todos.values()))

    def state(self) -> dict[str, Any]:
        """The whole state as JSON values."""
        return {
            "events": [asdict(event) for event in self.events.values()],
            "todos": [asdict(todo) for todo in self.todos.values()],
            "ids": self._ids,
        }

    def become(self, state: Mapping[str, Any]) -> None:
        """Take over the `state()` of another week."""
        self.events = {event["id"]: Event(**event) for event in state["events"]}
        self.todos = {todo["id"]: Todo(**todo) for todo in state["todos"]}
        self._ids = state["ids"]

    def _event(self, event_id: str) -> Event:
        if event_id not in self.events:
            raise Refused(f"there is no event {_shown(event_id)}; list_events shows the ids")
        return self.events[event_id]

    def _todo(self, todo_id: str) -> Todo:
        if todo_id not in self.todos:
            raise Refused(f"there is no to-do {_shown(todo_id)}; list_todos shows the ids")
        return self.todos[todo_id]

    def _placed(self, event: Event) -> Event:
        if not (OPENS <= event.start < event.end <= CLOSES):
            raise Refused(f"an event lies between {clock(OPENS)} and {clock(CLOSES)}")
        for other in self.events.values():
            if other.id != event.id and other.overlaps(event):
                raise Refused(f"{event.day} {clock(event.start)}-{clock(event.end)} is not free: {other}")
        return event


def clock(hour: int) -> str:
    """9 → "09:00"."""
    return f"{hour:02}:00"


def _day(day: str) -> str:
    if day not in DAYS:
        raise Refused(f"{_shown(day)} is not a day of this week: {', '.join(DAYS)}")
    return day


def _hour(start: str) -> int:
    match = _START.fullmatch(start.strip())
    if match is None:
        raise Refused(f"{_shown(start)} is not a full hour, such as 09:00")
    return int(match[1])


def _text(text: str) -> str:
    stripped = text.strip()
    # Control characters would break the lists, and lone surrogates cannot be encoded.
    if not stripped or not stripped.isprintable() or len(stripped) > LONGEST_TEXT:
        raise Refused(f"a title or a to-do is one line of 1 to {LONGEST_TEXT} printable characters")
    return stripped


def _shown(text: str) -> str:
    return ascii(text[:LONGEST_TEXT])
