"""Sockets for HTTP servers, and servers in a thread of this process."""

import socket
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Protocol

from gem.errors import ConfigError
from gem.work.loops import EventLoop

_BACKLOG = 1024
"""Connections that wait until the server accepts them."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. `ConfigError` if the port is taken, or not permitted."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # the rest is Python's, and repeats the address
        raise ConfigError(f"cannot listen at {host}:{port} ({reason}): choose another --port or --host") from error
    # asyncio sets this only for sockets created with an explicit protocol. Without it, the second part of an answer
    # waits 40 ms for the client's acknowledgement of the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if sys.platform != "linux":
        return listening
    from gem.http.entrance import Entrance

    return Entrance(listening)


def address(listening: socket.socket, path: str) -> str:
    """The URL of `path` on a server with this socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


class Server(Protocol):
    """A server as uvicorn's is one."""

    started: bool
    should_exit: bool

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve on these sockets until `should_exit`."""
        ...


@contextmanager
def serving(server: Server, path: str) -> Generator[str]:
    """Run a server in a thread of this process for the length of the block; yields the address of `path`.

    Raises:
        RuntimeError: it does not start.
    """
    with listen("127.0.0.1", 0) as listening, closing(EventLoop("gem-http-server")) as loop:
        ended = loop.submit(server.serve([listening]))
        while not server.started:
            if ended.done():
                raise RuntimeError("the server did not start; its log says why") from ended.exception()
            time.sleep(0.005)
        try:
            yield address(listening, path)
        finally:
            server.should_exit = True
            ended.result()
