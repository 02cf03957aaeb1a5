"""Offers of this pack: tables of environments, tools, wrappers and commands. Listing imports only this module."""

from collections.abc import Mapping
from typing import Any

import gem

GEM_API = 1


_CALENDAR: Mapping[str, Mapping[str, Any]] = {
    "": {"events": 6, "todos": 3, "tasks": 2, "max_turns": 16},
    "-easy": {"events": 4, "todos": 2, "tasks": 1, "max_turns": 10},
    "-hard": {"events": 12, "todos": 5, "tasks": 5, "max_turns": 40},
}
"""Variant → kwargs."""

_HOPS: Mapping[str, int] = {"": 2, "-easy": 1, "-hard": 3}
"""Variant → searches that an answer takes."""


@gem.hookimpl
def gem_envs() -> list[gem.EnvSpec]:
    return [
        gem.EnvSpec(
            id=f"tools:Calendar-v0{variant}",
            entry_point="gem_tools.calendar.env:Calendar",
            kwargs=kwargs,
            # The env's own limit on turns counts calls.
            wrappers=({"name": "tool_env", "max_calls": None, "max_refused": None},),
            description="Tasks in a calendar and a to-do list behind tools, graded by what these hold in the end "
            f"(events={kwargs['events']}, tasks={kwargs['tasks']})",
            tags=("tools", "multi-turn"),
        )
        for variant, kwargs in _CALENDAR.items()
    ] + [
        gem.EnvSpec(
            id=f"tools:MultiHop-v0{variant}",
            entry_point="gem_tools.multi_hop.env:MultiHop",
            kwargs={"hops": hops},
            description=f"Answer a question about a fictional world by searching its encyclopedia (hops={hops})",
            tags=("tools", "single-turn", "question-answering"),
        )
        for variant, hops in _HOPS.items()
    ]


@gem.hookimpl
def gem_tools() -> dict[str, str]:
    return {
        "bash": "gem_tools.code.bash:bash_tool",
        "calculator": "gem_tools.calculator:calculator",
        "fetch": "gem_tools.search.tool:fetch_tool",
        "mcp": "gem_tools.mcp:mcp_tools",
        "notebook": "gem_tools.code.notebook:notebook_tool",
        "python": "gem_tools.code.python:python_tool",
        "search": "gem_tools.search.tool:search_tool",
    }


@gem.hookimpl
def gem_wrappers() -> dict[str, str]:
    return {
        "python_tool": "gem_tools.code.wrappers:python_with_reward",
        "python_tool_no_int_reward": "gem_tools.code.wrappers:python_without_reward",
        "python_tool_no_int_reward_last_line_error": "gem_tools.code.wrappers:python_last_line_error",
        "search_tool": "gem_tools.search.wrappers:search_with_reward",
        "search_tool_no_int_reward": "gem_tools.search.wrappers:search_without_reward",
    }


@gem.hookimpl
def gem_commands() -> list[gem.CommandSpec]:
    return [
        gem.CommandSpec(
            name="mcp-serve",
            entry_point="gem_tools.mcp.cli:mcp_serve",
            help="Serve tools by MCP, over stdio or HTTP",
        ),
        gem.CommandSpec(
            name="search-server",
            entry_point="gem_tools.search.cli:search_server",
            help="Serve a search index over HTTP, for many clients",
        ),
    ]


@gem.hookimpl
def gem_diagnostics() -> dict[str, str]:
    return {"sandbox": "gem_sandbox.diagnostics:diagnose"}
