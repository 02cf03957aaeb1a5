"""The tools of MCP servers as tools of ours."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Literal

import mcp_types
from jsonschema.validators import validator_for
from referencing import Registry

from gem.errors import BadArguments, ConfigError, ToolError
from gem.tool.content import Content
from gem.tool.resource import Resource
from gem.tool.tool import Tool
from gem_tools.mcp.config import Config, read_servers
from gem_tools.mcp.content import to_observation
from gem_tools.mcp.listings import listings
from gem_tools.mcp.names import Offer, named
from gem_tools.mcp.servers import EpisodeSessions, Sessions, Settings, SharedSessions

Isolation = Literal["episode", "shared"]
_KINDS: Mapping[str, type[EpisodeSessions]] = {"episode": EpisodeSessions, "shared": SharedSessions}
_MOST_PROBLEMS = 5
_LONGEST_PROBLEM = 200
"""Characters: a message of the schema's checker repeats the value that it is about."""


def make_tools(config: Config, sessions: Isolation, ready: float, answer: float) -> list[Tool]:
    """See `gem_tools.mcp.mcp_tools`."""
    if sessions not in _KINDS:
        raise ConfigError(f"sessions is 'episode' or 'shared', not {sessions!r}")
    settings = Settings(read_servers(config), ready, answer)
    resource = _KINDS[sessions](settings)
    return [_tool(name, offer, resource) for name, offer in named(listings(settings)).items()]


def _tool(name: str, offer: Offer, resource: Resource[Sessions]) -> Tool:
    theirs = offer.tool

    async def call(sessions: Sessions, /, **arguments: Any) -> Content:
        result = await sessions.call(offer.server, theirs.name, arguments)
        if result.is_error:
            raise ToolError(_text(result) or f"{name} failed and did not say why.")
        return to_observation(result)

    return Tool(
        name=name,
        description=theirs.description or theirs.title or "",
        parameters={"properties": {}, **theirs.input_schema},
        function=call,
        validator=_validator(theirs.input_schema),
        resource=resource,
    )


def _text(result: mcp_types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, mcp_types.TextContent))


def _validator(schema: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    # With an empty registry nothing that a schema refers to is fetched.
    checker = validator_for(schema)(schema, registry=Registry())

    def validate(arguments: Mapping[str, Any]) -> dict[str, Any]:
        problems = list(itertools.islice(checker.iter_errors(dict(arguments)), _MOST_PROBLEMS))
        if problems:
            raise BadArguments("; ".join(_say(problem.json_path, problem.message) for problem in problems))
        return dict(arguments)

    return validate


def _say(path: str, message: str) -> str:
    """`$.point.x` and what is wrong there."""
    where = path.removeprefix("$").removeprefix(".")
    short = message if len(message) <= _LONGEST_PROBLEM else f"{message[:_LONGEST_PROBLEM]}…"
    return f"the argument {where!r}: {short}" if where else short
