"""The SDK's two transports, opened from a configuration. The end of a program's standard error is kept."""

import asyncio
import functools
import os
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from gem_tools.mcp.config import ServerConfig, StdioServer

KEPT = 2000
"""Bytes of standard error that are kept, the last ones."""

_LARGEST = 16 * 2**20
"""Bytes of an answer by HTTP."""
_CONNECT = 10.0
"""Seconds to reach a server by HTTP. The caller limits the time of an answer."""
_DRAIN = 0.5
"""Seconds to wait for the last output of a program that has ended; only its children can still hold the pipe."""


class Tail(asyncio.Protocol):
    """The end of a pipe's output. The rest is read and dropped, so that the writer never blocks."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self._kept += data
        del self._kept[:-KEPT]

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    @property
    def text(self) -> str:
        """Standard error as text, without surrounding white space."""
        return self._kept.decode(errors="replace").strip()


class _Limited(httpx2.AsyncByteStream):
    """The body of an answer, up to a limit."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > _LARGEST:
                raise httpx2.DecodingError(f"the answer has more than {_LARGEST} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


async def _limit(answer: httpx2.Response) -> None:
    """Limit an answer, unless it is a stream of events, which the SDK limits one by one.

    Raises:
        ConnectError: a gateway says that it does not reach the server behind it.
    """
    if answer.status_code in (502, 504):
        raise httpx2.ConnectError(f"a gateway answers with {answer.status_code} {answer.reason_phrase}")
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx2.DecodingError("the answer is compressed, which was not asked for")
    if not answer.headers.get("Content-Type", "").startswith("text/event-stream"):
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        answer.stream = _Limited(answer.stream)


@functools.cache
def _tls() -> ssl.SSLContext:
    """Cached, because reading all certificates takes longer than most calls."""
    return httpx2.create_ssl_context()


def is_unreachable(error: Exception | None) -> bool:
    """True if an attempt to connect that ended so says that no server is at the address.

    A tunnel takes the connection, and ends it.
    """
    return isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError)


@asynccontextmanager
async def transport(server: ServerConfig, stderr: Tail) -> AsyncGenerator[Any]:
    """The pair of streams that the SDK's `Client` takes. Leaving ends the program, by force after a grace period."""
    if not isinstance(server, StdioServer):
        timeout = httpx2.Timeout(_CONNECT, read=None)
        async with (
            httpx2.AsyncClient(
                # A small compressed answer could fill the memory.
                headers={"Accept-Encoding": "identity", **server.headers},
                timeout=timeout,
                verify=_tls(),
                event_hooks={"response": [_limit]},
            ) as http,
            streamable_http_client(server.url, http_client=http, max_sse_event_size=_LARGEST) as streams,
        ):
            yield streams
        return
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd,
        # A line that is not valid text is dropped like any other that is not a message.
        encoding_error_handler="replace",
    )
    reading, writing = os.pipe()
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: stderr, os.fdopen(reading, "rb", 0))
    try:
        with os.fdopen(writing, "w") as errlog:
            async with stdio_client(parameters, errlog) as streams:
                # The program has its own copy; ours would keep the pipe open after the program has ended.
                errlog.close()
                yield streams
        with anyio.move_on_after(_DRAIN, shield=True):
            await stderr.ended.wait()
    finally:
        pipe.close()
