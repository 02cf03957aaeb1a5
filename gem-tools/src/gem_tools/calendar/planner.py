"""The calls that turn one week into another, one at a time."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from gem.tool import ToolCall
from gem_tools.calendar.week import Event, Todo, Week, clock

_Item = TypeVar("_Item", Event, Todo)


def next_call(now: Week, goal: Week) -> ToolCall | None:
    """A call after which `now` is nearer to `goal`, or None where both hold the same.

    From any week, repeating it reaches the goal: an event moves when the hours where it belongs are free, and when
    each of those left is in hours that another one needs, one is deleted, to be added again later.
    """
    return _event_call(now, goal) or _todo_call(now, goal)


def _event_call(now: Week, goal: Week) -> ToolCall | None:
    surplus = _unmatched(now.events.values(), goal.events.values())
    missing = _unmatched(goal.events.values(), now.events.values())
    for event in surplus:
        target = next((other for other in missing if (other.title, other.hours) == (event.title, event.hours)), None)
        if target is None:
            return ToolCall("delete_event", {"event_id": event.id})
        if _is_free(now, target, besides=event):
            return ToolCall("move_event", {"event_id": event.id, "day": target.day, "start": clock(target.start)})
    for event in missing:
        if _is_free(now, event):
            when = {"day": event.day, "start": clock(event.start), "hours": event.hours}
            return ToolCall("add_event", {"title": event.title, **when})
    return ToolCall("delete_event", {"event_id": surplus[0].id}) if surplus else None


def _todo_call(now: Week, goal: Week) -> ToolCall | None:
    surplus = _unmatched(now.todos.values(), goal.todos.values())
    missing = _unmatched(goal.todos.values(), now.todos.values())
    for todo in surplus:
        if any(other.text == todo.text and other.done > todo.done for other in missing):
            return ToolCall("complete_todo", {"todo_id": todo.id})
        return ToolCall("delete_todo", {"todo_id": todo.id})
    return ToolCall("add_todo", {"text": missing[0].text}) if missing else None


def _is_free(week: Week, place: Event, besides: Event | None = None) -> bool:
    return not any(event.overlaps(place) for event in week.events.values() if event is not besides)


def _unmatched(items: Iterable[_Item], others: Iterable[_Item]) -> list[_Item]:
    """The items whose content the others lack."""
    left = Counter(other.fact for other in others)
    unmatched: list[_Item] = []
    for item in items:
        if left[item.fact]:
            left[item.fact] -= 1
        else:
            unmatched.append(item)
    return unmatched
