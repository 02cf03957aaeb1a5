"""The calendar's tools, as methods: the env inherits them, and the MCP server has an instance per session."""

from typing import Annotated, Literal

from pydantic import Field

from gem.tool import tool
from gem_tools.calendar.week import CLOSES, DAYS, OPENS, Week

Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
Hours = Annotated[int, Field(ge=1, le=CLOSES - OPENS)]


class CalendarTools:
    """Tools of an agent for `week`."""

    week: Week

    @tool
    def list_events(self, day: Day | None = None) -> str:
        """List the events with their ids, day by day.

        Args:
            day: only this day.
        """
        events = [str(event) for each in DAYS if day in (None, each) for event in self.week.on(each)]
        return "\n".join(events) or "No events."

    @tool
    def add_event(self, title: str, day: Day, start: str, hours: Hours = 1) -> str:
        """Put a new event into the calendar.

        Args:
            start: a full hour, such as 09:00.
            hours: how long it takes.
        """
        return f"Added {self.week.add_event(title, day, start, hours)}"

    @tool
    def move_event(self, event_id: str, day: Day, start: str) -> str:
        """Let an event begin at another time. Its length stays the same.

        Args:
            start: a full hour, such as 09:00.
        """
        return f"Moved {self.week.move_event(event_id, day, start)}"

    @tool
    def delete_event(self, event_id: str) -> str:
        """Take an event out of the calendar."""
        return f"Deleted {self.week.delete_event(event_id)}"

    @tool
    def list_todos(self) -> str:
        """List the to-dos with their ids; [x] marks those that are ticked off."""
        return "\n".join(map(str, self.week.todos.values())) or "No to-dos."

    @tool
    def add_todo(self, text: str) -> str:
        """Put a new to-do on the list."""
        return f"Added {self.week.add_todo(text)}"

    @tool
    def complete_todo(self, todo_id: str) -> str:
        """Tick a to-do off."""
        return f"Ticked off {self.week.complete_todo(todo_id)}"

    @tool
    def delete_todo(self, todo_id: str) -> str:
        """Take a to-do off the list, done or not."""
        return f"Deleted {self.week.delete_todo(todo_id)}"
