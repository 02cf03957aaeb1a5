"""Faults of servers. A mistake of the agent is a `ToolError`, which becomes text."""

from gem.errors import Fault, Unreachable


class McpServerError(Fault, RuntimeError):
    """An MCP server could not be started or reached, died, broke the protocol, or did not answer in time.

    The message names the server and its command or address, and ends with what the server last wrote to its standard
    error. The next call opens a new session.
    """

    def __init__(self, what: str, server: str, where: str, stderr: str = "") -> None:
        super().__init__(what, server, where, stderr)  # as arguments of their own, so that it can be pickled
        self.what, self.server, self.where, self.stderr = what, server, where, stderr

    def __str__(self) -> str:
        ending = f"\nIts standard error ended with:\n{self.stderr}" if self.stderr else ""
        return f"the MCP server {self.server!r} ({self.where}) {self.what}{ending}"


class McpServerUnreachable(McpServerError, Unreachable):
    """No MCP server is at the address."""
