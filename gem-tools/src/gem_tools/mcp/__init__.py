"""The Model Context Protocol, both ways: any MCP server's tools for agents, and our tools as an MCP server."""

from typing import TYPE_CHECKING, Literal

from gem.errors import MissingExtra

if TYPE_CHECKING:
    from gem.tool import Tool
    from gem_tools.mcp.config import Config


def mcp_tools(
    config: "Config", *, sessions: Literal["episode", "shared"] = "episode", ready: float = 30, answer: float = 60
) -> "list[Tool]":
    """The tools of one or more MCP servers.

    The servers are asked for their tools now, once per process. A mistake of the agent (arguments that do not fit the
    tool's schema, or a result that the server marks as an error) is text for the agent. A server that cannot be
    started, dies, or does not answer in time raises `McpServerError`, and the next call opens a new session.

    Args:
        config: the URL of a server, the path of a JSON file, `{"mcpServers": {name: server}}` (VS Code's `servers` is
            read as well), or one server: `{"command": …, "args": …, "env": …}` for a program that is started and spoken
            to by stdio, and `{"url": …, "headers": …}` for streamable HTTP. A tool keeps its name unless two servers
            have it; then it begins with the server's name and `_`.
        sessions: "episode" gives each episode its own session with each server, and its own process of one that is
            started, so that episodes do not see each other's changes. "shared" is one session for all episodes of this
            process, kept until it ends, for servers without state.
        ready: seconds in which a server must be started or reached. A server that cannot be reached at once is tried
            again for as long, unless this is the first time.
        answer: seconds in which it must answer a request.

    Raises:
        ConfigError: the configuration is not valid, or two tools have the same name.
        McpServerError: a server cannot be asked.
        MissingExtra: the MCP SDK is not installed.
    """
    try:
        from gem_tools.mcp.tools import make_tools
    except ModuleNotFoundError as error:
        raise MissingExtra(f"the tools of MCP servers need {error.name}: pip install 'gem-tools[mcp]'") from error
    return make_tools(config, sessions, ready, answer)
