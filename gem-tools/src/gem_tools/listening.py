"""Sockets for servers over HTTP."""

import socket

from gem.errors import ConfigError

_BACKLOG = 1024
"""Clients that wait in line before a server is up."""


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address, with a port of the system's choice for 0. From now on clients can connect.

    Raises:
        ConfigError: the port is taken, or may not be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"cannot listen at {host}:{port} ({error.strerror}): choose another --port or --host"
        ) from error
    # asyncio sees to this only for sockets that were made with the protocol named. Without it, the second half of an
    # answer waits 40 ms for the client's acknowledgement of the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address(listening: socket.socket, path: str) -> str:
    """Where clients of a server on this socket find `path`."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"
