"""The calendar's tools: what the environment's agent calls, and what the MCP server offers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from gem.tool import Tool, tool
from gem_tools.calendar.week import CLOSES, DAYS, OPENS, Week
from gem_tools.calendar.weeks import Weeks

Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
Hours = Annotated[int, Field(ge=1, le=CLOSES - OPENS)]

WEEKS = Weeks()


@tool(resource=WEEKS)
def list_events(week: Week, day: Day | None = None) -> str:
    """List the events with their ids, day by day.

    Args:
        day: only this day.
    """
    events = [str(event) for each in DAYS if day in (None, each) for event in week.on(each)]
    return "\n".join(events) or "No events."


@tool(resource=WEEKS)
def add_event(week: Week, title: str, day: Day, start: str, hours: Hours = 1) -> str:
    """Put a new event into the calendar.

    Args:
        start: a full hour, such as 09:00.
        hours: how long it takes.
    """
    return f"Added {week.add_event(title, day, start, hours)}"


@tool(resource=WEEKS)
def move_event(week: Week, event_id: str, day: Day, start: str) -> str:
    """Let an event begin at another time. Its length stays the same.

    Args:
        start: a full hour, such as 09:00.
    """
    return f"Moved {week.move_event(event_id, day, start)}"


@tool(resource=WEEKS)
def delete_event(week: Week, event_id: str) -> str:
    """Take an event out of the calendar."""
    return f"Deleted {week.delete_event(event_id)}"


@tool(resource=WEEKS)
def list_todos(week: Week) -> str:
    """List the to-dos with their ids; [x] marks those that are ticked off."""
    return "\n".join(map(str, week.todos.values())) or "No to-dos."


@tool(resource=WEEKS)
def add_todo(week: Week, text: str) -> str:
    """Put a new to-do on the list."""
    return f"Added {week.add_todo(text)}"


@tool(resource=WEEKS)
def complete_todo(week: Week, todo_id: str) -> str:
    """Tick a to-do off."""
    return f"Ticked off {week.complete_todo(todo_id)}"


@tool(resource=WEEKS)
def delete_todo(week: Week, todo_id: str) -> str:
    """Take a to-do off the list, done or not."""
    return f"Deleted {week.delete_todo(todo_id)}"


TOOLS: Mapping[str, Tool] = {
    each.name: each
    for each in (
        list_events,
        add_event,
        move_event,
        delete_event,
        list_todos,
        add_todo,
        complete_todo,
        delete_todo,
    )
}
"""Name → tool."""


def calendar_tools(weeks: Weeks) -> list[Tool]:
    """The same tools, on the week that `weeks` opens for each session."""
    return [replace(each, resource=weeks) for each in TOOLS.values()]
