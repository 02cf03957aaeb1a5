"""The calendar as an MCP server, a program of its own: `python -m gem_tools.calendar.server --seed 3`.

Each session has a calendar and a to-do list in memory, filled from the seed. What they hold can be read at
`calendar://week`, as JSON, to grade a session by its final state.
"""

import json
from dataclasses import replace
from random import Random

import click
from mcp.server import Server

from gem.cli.options import Seed
from gem.cli.output import echo
from gem.tool import Resource, ToolSession, tool, tools_of
from gem_tools.calendar.tasks import MOST_EVENTS, MOST_TODOS, draw
from gem_tools.calendar.tools import CalendarTools
from gem_tools.mcp.serve import serve_http, serve_stdio
from gem_tools.mcp.server import make_server

STATE = "calendar://week"


class SessionCalendar(Resource[CalendarTools]):
    """A calendar per session, filled from a seed: every session with that seed begins with the same one."""

    def __init__(self, seed: int, events: int, todos: int) -> None:
        self.seed, self.events, self.todos = seed, events, todos

    def open(self) -> CalendarTools:
        calendar = CalendarTools()
        calendar.week = draw(Random(self.seed), events=self.events, todos=self.todos, tasks=0).week
        return calendar

    def close(self, state: CalendarTools) -> None:
        """A calendar in memory holds nothing to release."""


def calendar_server(seed: int, events: int, todos: int) -> Server[ToolSession]:
    """The server: its tools, and the whole state as a document."""
    calendar = SessionCalendar(seed, events, todos)

    @tool(resource=calendar)
    def week(calendar: CalendarTools) -> str:
        """All that the calendar and the to-do list hold, as JSON."""
        return json.dumps(calendar.week.state(), ensure_ascii=False)

    tools = [replace(each, resource=calendar, method=False) for each in tools_of(CalendarTools)]
    return make_server("calendar", tools, {STATE: week})


@click.command()
@click.option("--seed", type=Seed(), default=0, show_default=True, help="What the calendars are filled from.")
@click.option("--events", type=click.IntRange(0, MOST_EVENTS), default=6, show_default=True)
@click.option("--todos", type=click.IntRange(0, MOST_TODOS), default=3, show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), help="Serve by HTTP on this port; 0 takes a free one.")
def main(seed: int, events: int, todos: int, port: int | None) -> None:
    """Serve a calendar and a to-do list by stdio, or by HTTP on this machine."""
    server = calendar_server(seed, events, todos)
    if port is None:
        serve_stdio(server)
    else:
        serve_http(server, "127.0.0.1", port, lambda address: echo(f"Serving a calendar at {address}", err=True))


if __name__ == "__main__":
    main()
