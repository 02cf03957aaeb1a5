"""Faults of servers. A mistake of the agent is a `ToolError`, which becomes text."""

from gem.errors import Fault, Unreachable


class McpServerError(Fault, RuntimeError):
    """An MCP server could not be started or reached, died, broke the protocol, or did not answer in time.

    The message names the server and its command or address, and ends with what the server last wrote to its standard
    error. The next call opens a new session.
    """

    def __init__(self, what: str, *, server: str, where: str, stderr: str = "") -> None:
        ending = f"\nIts standard error ended with:\n{stderr}" if stderr else ""
        super().__init__(f"the MCP server {server!r} ({where}) {what}{ending}")
        self.server, self.where, self.stderr = server, where, stderr

    def __reduce__(self) -> tuple[object, ...]:
        # Worker processes send it, and the default would call the constructor with the message alone.
        return _restored, (type(self), self.args[0], self.server, self.where, self.stderr)


class McpServerUnreachable(McpServerError, Unreachable):
    """There is no MCP server at the address."""


def _restored(kind: type[McpServerError], message: str, server: str, where: str, stderr: str) -> McpServerError:
    error = kind.__new__(kind, message)
    error.args = (message,)
    error.server, error.where, error.stderr = server, where, stderr
    return error
