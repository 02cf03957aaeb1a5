"""Running an MCP server: by stdio until the client disconnects, or by HTTP until a signal."""

import os
import signal
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gem.http.client_timeouts import MOST_WAITING, TimedH11Protocol
from gem.http.listening import address, listen
from gem.tool import shared_runtime

PATH = "/mcp"
IDLE = 1800.0
"""Seconds without a request after which a session ends."""
SESSIONS = 256
"""Most sessions at once."""
_GRACE = 1
"""Seconds for clients to close their streams when the server stops."""


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client by standard input and output. Anything else that is printed goes to stderr.

    SIGINT and SIGTERM end the process.
    """
    _end_with_a_signal()

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


def serve_http(
    server: Server[Any],
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    idle: float = IDLE,
    sessions: int = SESSIONS,
) -> None:
    """Serve every client by streamable HTTP, until SIGINT or SIGTERM ends the process.

    Args:
        port: 0 for one that is free.
        announce: called with the address as soon as clients can connect.
        idle: seconds without a request after which a session ends and releases what its tools hold. Its client then
            gets status 404, and has to begin another.
        sessions: how many there may be at once; more are refused with status 503.

    Raises:
        ConfigError: the port is taken, or not permitted.
    """
    application = server.streamable_http_app(
        streamable_http_path=PATH, host=host, session_idle_timeout=idle, max_sessions=sessions
    )
    config = uvicorn.Config(
        _without_streams(application),
        http=TimedH11Protocol,
        backlog=MOST_WAITING,
        log_level="warning",
        timeout_graceful_shutdown=_GRACE,
        lifespan="on",
    )
    with listen(host, port) as listening:
        _end_with_a_signal()
        announce(address(listening, PATH))
        uvicorn.Server(config).run([listening])


def _without_streams(application: ASGIApp) -> ASGIApp:
    """The same without the stream for messages that a server sends unasked, because ours does not send any.

    A session with an open stream would never be idle.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET":
            await Response(status_code=405, headers={"Allow": "POST, DELETE"})(scope, receive, send)
        else:
            await application(scope, receive, send)

    return answer


def _end_with_a_signal() -> None:
    """Let SIGINT and SIGTERM end the process as soon as what its tools hold has been released.

    `os._exit`, because a thread that reads standard input only returns with the next line.
    """

    def end(number: int, frame: object) -> None:
        shared_runtime().close()
        os._exit(128 + number)

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, end)
