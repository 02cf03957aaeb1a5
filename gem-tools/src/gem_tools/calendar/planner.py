"""The way from one week to another, one call at a time."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from gem_tools.calendar.week import Event, Todo, Week, clock

_Item = TypeVar("_Item", Event, Todo)


class Call(NamedTuple):
    """A tool and its arguments."""

    tool: str
    arguments: dict[str, Any]


def next_call(now: Week, goal: Week) -> Call | None:
    """A call after which `now` is nearer to what `goal` says, or None where they say the same.

    From any week, repeating it arrives: an event moves when the place where it belongs is free, and when each of
    those left stands in another's place, one is deleted, to be added again later.
    """
    return _event_call(now, goal) or _todo_call(now, goal)


def _event_call(now: Week, goal: Week) -> Call | None:
    surplus = _unmatched(now.events.values(), goal.events.values())
    missing = _unmatched(goal.events.values(), now.events.values())
    for event in surplus:
        target = next((other for other in missing if (other.title, other.hours) == (event.title, event.hours)), None)
        if target is None:
            return Call("delete_event", {"event_id": event.id})
        if _is_free(now, target, besides=event):
            return Call("move_event", {"event_id": event.id, "day": target.day, "start": clock(target.start)})
    for event in missing:
        if _is_free(now, event):
            when = {"day": event.day, "start": clock(event.start), "hours": event.hours}
            return Call("add_event", {"title": event.title, **when})
    return Call("delete_event", {"event_id": surplus[0].id}) if surplus else None


def _todo_call(now: Week, goal: Week) -> Call | None:
    surplus = _unmatched(now.todos.values(), goal.todos.values())
    missing = _unmatched(goal.todos.values(), now.todos.values())
    for todo in surplus:
        if any(other.text == todo.text and other.done > todo.done for other in missing):
            return Call("complete_todo", {"todo_id": todo.id})
        return Call("delete_todo", {"todo_id": todo.id})
    return Call("add_todo", {"text": missing[0].text}) if missing else None


def _is_free(week: Week, place: Event, besides: Event | None = None) -> bool:
    return not any(event.overlaps(place) for event in week.events.values() if event is not besides)


def _unmatched(items: Iterable[_Item], others: Iterable[_Item]) -> list[_Item]:
    """The items that say something which the others do not."""
    left = Counter(other.fact for other in others)
    unmatched: list[_Item] = []
    for item in items:
        if left[item.fact]:
            left[item.fact] -= 1
        else:
            unmatched.append(item)
    return unmatched
