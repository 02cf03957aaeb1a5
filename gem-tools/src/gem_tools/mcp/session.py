"""A session with one server, kept from call to call and opened again after a fault."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from mcp import Client, MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, Tool
from pydantic import ValidationError

from gem.errors import ToolError
from gem.http.patience import Patience
from gem_tools.mcp.config import ServerConfig, digest
from gem_tools.mcp.connection import Connection, cause_of
from gem_tools.mcp.errors import McpServerUnreachable

_T = TypeVar("_T")
_MOST_TOOLS = 1000
_MOST_PAGES = 100
"""Pages of a server's list of tools, which may be endless."""
_FAULTS = (MCPError, RuntimeError, TimeoutError, ValidationError)
_patience = Patience()


class McpSession:
    """A session with one server. Its methods run in one event loop, and many calls may be under way at once.

    After a fault, the calls under way on the connection are finished, then it is closed; the next call opens another.

    Args:
        ready: seconds in which a server must be started or reached. One that has been reached before, and cannot be
            now, is tried again for as long, by all sessions of the process together: it may be restarting.
        answer: seconds in which it must answer a request.
    """

    def __init__(self, name: str, server: ServerConfig, *, ready: float, answer: float) -> None:
        self.name, self.server = name, server
        self._ready, self._answer = ready, answer
        self._opening = anyio.Lock()
        self._connection: Connection | None = None
        self._closed = False

    async def tools(self) -> list[Tool]:
        """Tools that the server offers.

        Raises:
            McpServerError: see there; or the list is too long.
        """
        return await self._request("list its tools", _every_tool)

    async def call(self, tool: str, arguments: dict[str, object]) -> CallToolResult:
        """Call a tool. An error that the tool itself reports is a result like any other.

        Raises:
            ToolError: the server says that the tool or its arguments do not exist.
            McpServerError: see there.
        """
        return await self._request(f"answer {tool!r}", lambda client: client.call_tool(tool, arguments))

    async def close(self) -> None:
        """End the session for good, and the server's process if there is one."""
        self._closed = True
        async with self._opening:
            if self._connection is not None:
                await self._connection.close()

    async def _request(self, doing: str, send: Callable[[Client], Awaitable[_T]]) -> _T:
        connection = await self._open()
        connection.calls += 1
        try:
            with anyio.fail_after(self._answer):
                return await send(connection.client)
        except _FAULTS as error:
            if isinstance(error, MCPError) and error.code == INVALID_PARAMS:
                raise ToolError(error.message) from error
            failure = error
            if self._connection is connection:
                self._connection = None
        finally:
            connection.calls -= 1
            # Closed by the last call on it, so that a slow call does not end the others.
            if connection is not self._connection and not connection.calls:
                await connection.close()
        if isinstance(failure, TimeoutError):
            raise connection.fault(f"did not {doing} within {self._answer:g} s") from failure
        raise connection.fault(f"failed to {doing}{cause_of(connection.failure or failure)}") from failure

    async def _open(self) -> Connection:
        async with self._opening:
            if self._closed:
                raise RuntimeError(f"the session with the MCP server {self.name!r} is closed")
            if self._connection is None:
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> Connection:
        key = digest(self.server)
        pauses = _patience.pauses(key, self._ready)
        while True:
            connection = Connection(self.name, self.server)
            try:
                await connection.open(self._ready)
            except McpServerUnreachable:
                pause = next(pauses, None)
                if pause is None or self._closed:
                    raise
            else:
                _patience.reached(key)
                return connection
            await anyio.sleep(pause)


async def _every_tool(client: Client) -> list[Tool]:
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if cursor is None or len(found) > _MOST_TOOLS:
            break
    if cursor is not None or len(found) > _MOST_TOOLS:
        raise RuntimeError(f"the list does not end within {_MOST_TOOLS} tools and {_MOST_PAGES} pages")
    return found
