"""The calendar as an MCP server, a program of its own: `python -m gem_tools.calendar.server --seed 3`.

Each session has a calendar and a to-do list in memory, filled from the seed. What they hold can be read at
`calendar://week`, as JSON, to grade a session by its end.
"""

import json
from dataclasses import replace

import click
from mcp.server import Server

from gem.cli.options import Seed
from gem.cli.output import echo
from gem.tool import ToolSession, tool
from gem_tools.calendar.errands import MOST_EVENTS, MOST_TODOS
from gem_tools.calendar.tools import WEEKS, calendar_tools
from gem_tools.calendar.week import Week
from gem_tools.calendar.weeks import Weeks
from gem_tools.mcp.running import serve_http, serve_stdio
from gem_tools.mcp.serving import make_server

STATE = "calendar://week"


@tool(resource=WEEKS)
def week(week: Week) -> str:
    """All that the calendar and the to-do list hold, as JSON."""
    return json.dumps(week.state(), ensure_ascii=False)


def calendar_server(weeks: Weeks) -> Server[ToolSession]:
    """The server, with a week of `weeks` for each session."""
    return make_server("calendar", calendar_tools(weeks), {STATE: replace(week, resource=weeks)})


@click.command()
@click.option("--seed", type=Seed(), default=0, show_default=True, help="What the calendars are filled from.")
@click.option("--events", type=click.IntRange(0, MOST_EVENTS), default=6, show_default=True)
@click.option("--todos", type=click.IntRange(0, MOST_TODOS), default=3, show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), help="Serve by HTTP on this port; 0 takes a free one.")
def main(seed: int, events: int, todos: int, port: int | None) -> None:
    """Serve a calendar and a to-do list by stdio, or by HTTP on this machine."""
    server = calendar_server(Weeks(seed, events=events, todos=todos))
    if port is None:
        serve_stdio(server)
    else:
        serve_http(server, "127.0.0.1", port, lambda address: echo(f"Serving a calendar at {address}", err=True))


if __name__ == "__main__":
    main()
