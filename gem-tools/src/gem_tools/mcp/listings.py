"""What servers offer, asked once."""

from collections.abc import Sequence

from mcp_types import Tool

from gem_tools.mcp.config import digest
from gem_tools.mcp.sessions import McpSessions, McpSettings

_known: dict[str, Sequence[Tool]] = {}
"""By what a server's configuration says: a server is asked once, however many envs with its tools are made."""


def listings(settings: McpSettings) -> dict[str, Sequence[Tool]]:
    """Server → its tools. The servers that have not been asked before are started or reached, asked, and left again.

    Raises:
        McpServerError: see there.
    """
    digests = {name: digest(server) for name, server in settings.servers.items()}
    new = {name: settings.servers[name] for name in digests if digests[name] not in _known}
    if new:
        with McpSessions(settings._replace(servers=new)) as sessions:
            _known.update({digests[name]: tools for name, tools in sessions.tools().items()})
    return {name: _known[key] for name, key in digests.items()}
