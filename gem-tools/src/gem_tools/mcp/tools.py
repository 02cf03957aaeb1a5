"""The tools of MCP servers as `gem.tool.Tool`s."""

from collections.abc import Mapping
from typing import Any, Literal

import mcp_types

from gem.errors import ConfigError, ToolError
from gem.tool.content import Content
from gem.tool.resource import Resource
from gem.tool.tool import Tool
from gem_tools.mcp.arguments import usable_schema, validator_of
from gem_tools.mcp.config import Config, read_servers
from gem_tools.mcp.content import to_observation
from gem_tools.mcp.listings import listings
from gem_tools.mcp.names import OfferedTool, named
from gem_tools.mcp.sessions import EpisodeSessions, McpSessions, McpSettings, SharedSessions

Isolation = Literal["episode", "shared"]
_LONGEST = 10_000
"""Characters of a description; the rest is cut off."""
_KINDS: Mapping[str, type[EpisodeSessions]] = {"episode": EpisodeSessions, "shared": SharedSessions}


def make_tools(config: Config, sessions: Isolation, ready: float, answer: float) -> list[Tool]:
    """See `gem_tools.mcp.mcp_tools`."""
    if sessions not in list(_KINDS):
        raise ConfigError(f"sessions is 'episode' or 'shared', not {sessions!r}")
    settings = McpSettings(read_servers(config), ready, answer)
    resource = _KINDS[sessions](settings)
    return [_tool(name, offer, resource) for name, offer in named(listings(settings)).items()]


def _tool(name: str, offer: OfferedTool, resource: Resource[McpSessions]) -> Tool:
    theirs = offer.tool

    async def call(sessions: McpSessions, /, **arguments: Any) -> Content:
        result = await sessions.call(offer.server, theirs.name, arguments)
        if result.is_error:
            raise ToolError(_text(result) or f"{name} failed and did not say why.")
        return to_observation(result)

    return Tool(
        name=name,
        description=(theirs.description or theirs.title or "")[:_LONGEST],
        parameters=usable_schema(theirs.input_schema),
        function=call,
        validator=validator_of(theirs.input_schema),
        resource=resource,
    )


def _text(result: mcp_types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, mcp_types.TextContent))
