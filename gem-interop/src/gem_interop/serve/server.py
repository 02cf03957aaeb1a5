"""Running the server."""

import ipaddress
import logging
import socket
import sys
from contextlib import AbstractContextManager

from gem.errors import ConfigError, MissingExtra
from gem.http import listening
from gem_interop.serve.app import EnvServer

try:
    import uvicorn

    from gem.http.client_timeouts import MOST_WAITING, TimedH11Protocol
    from gem_interop.serve.websocket import TimedWebSocketProtocol
except ImportError as error:
    raise MissingExtra(
        f"gemx serve needs uvicorn and websockets ({error}): pip install 'gem-interop[serve]'"
    ) from error

_GRACE = 3
"""Seconds for calls of envs that run when the server stops."""
_PING = 20.0
"""Seconds between two pings, and to answer one: a client whose machine is gone does not keep its session."""


def check_exposure(host: str, token: str | None, *, open_to_all: bool) -> None:
    """Refuse to let other machines in without a token.

    Raises:
        ConfigError: the host is not this machine, there is no token, and that is not what the user asked for.
    """
    if token is None and not open_to_all and not _is_local(host):
        raise ConfigError(
            f"at {host} everyone in the network could play here: put a token into GEM_SERVE_TOKEN or --token-file, "
            "or say --no-token"
        )


def run(server: EnvServer, on: socket.socket) -> None:
    """Serve on this socket until Ctrl-C or SIGTERM, which is raised again once every env is closed."""
    _server(server).run([on])


def serving(server: EnvServer) -> AbstractContextManager[str]:
    """Run a server in a thread of this process for the length of the block, which gets its address.

    Raises:
        RuntimeError: it does not start.
    """
    return listening.serving(_server(server), "")


def log_to_stderr() -> None:
    """A line per session, per refused client and per failed episode."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    log = logging.getLogger("gem.serve")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def _server(server: EnvServer) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            server.app,
            http=TimedH11Protocol,
            ws=TimedWebSocketProtocol,
            backlog=MOST_WAITING,
            ws_max_size=server.sessions.limits.message_bytes,
            # It costs more time than it saves, and a small message may unpack to a large one.
            ws_per_message_deflate=False,
            ws_ping_interval=_PING,
            ws_ping_timeout=_PING,
            timeout_graceful_shutdown=_GRACE,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
        )
    )


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
