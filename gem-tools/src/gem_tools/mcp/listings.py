"""The tools of servers, requested once per process."""

from collections.abc import Sequence
from contextlib import closing

from mcp_types import Tool

from gem_tools.mcp.config import digest
from gem_tools.mcp.sessions import McpSessions, McpSettings

_known: dict[str, Sequence[Tool]] = {}
"""Listings by the digest of a server's configuration, so that many envs need one request."""


def listings(settings: McpSettings) -> dict[str, Sequence[Tool]]:
    """Server → its tools. Servers that are not known yet are started or reached, asked, and closed again.

    Raises:
        McpServerError: see there.
    """
    digests = {name: digest(server) for name, server in settings.servers.items()}
    new = {name: settings.servers[name] for name in digests if digests[name] not in _known}
    if new:
        with closing(McpSessions(settings._replace(servers=new))) as sessions:
            _known.update({digests[name]: tools for name, tools in sessions.tools().items()})
    return {name: _known[key] for name, key in digests.items()}
