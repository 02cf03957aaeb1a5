"""What environments on servers have in common: an address, faults, and patience with a server that restarts."""

import time
import urllib.error
import urllib.parse
from collections.abc import Callable
from typing import ClassVar, TypeVar

from gem.checks import finite
from gem.errors import ConfigError, Fault, Unreachable
from gem_interop.envs.base import ForeignEnv

_T = TypeVar("_T")

LARGEST = 1 << 24
"""The most bytes that are read of an answer."""

TIMEOUT = 60.0
"""Seconds for each answer, by default."""

PATIENCE = 20.0
"""Seconds in which a server that restarts is back, by default."""

UNREACHABLE = frozenset({502, 504})
"""The statuses by which a gateway says that it does not reach the server behind it."""

_reached: set[str] = set()
"""The addresses at which a server has answered this process: one that it knows may be restarting, another is wrong."""


class ServerFault(Fault):
    """The server failed, or ended the episode."""


def reason_of(error: Exception) -> str:
    """Why a server was not reached, or what was wrong with its answer."""
    if isinstance(error, urllib.error.URLError):
        error = error.reason if isinstance(error.reason, Exception) else error
    return f"{type(error).__name__} {error}"


class ServerEnv(ForeignEnv):
    """An environment that a server plays.

    Args:
        url: its address.
        timeout: seconds for each answer.
        patience: seconds in which a server that had answered before is tried again at the start of an episode, if it
            cannot be reached.
        max_turns: a limit beside that of the server.

    Raises:
        ConfigError: the address does not begin with http:// or https://, does not have a host and a port that could be
            one, or has a user name.
    """

    _namespace: ClassVar[str]
    """Of the ids of such environments."""
    _where_a_token_goes: ClassVar[str] = "leave it out"

    def __init__(self, url: str, timeout: float, patience: float, max_turns: int | None) -> None:
        super().__init__(max_turns=max_turns)
        self._url = url.rstrip("/")
        self._timeout, self._patience = finite("timeout", timeout), finite("patience", patience)
        try:
            parts = urllib.parse.urlsplit(url)
            _ = parts.port
        except ValueError:  # such as a port that is not a number
            parts = None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"the address of a server is like {self._namespace}:http://localhost:8000, not {url!r}")
        if parts.username is not None:
            raise ConfigError(f"a token in an address would be recorded: {self._where_a_token_goes}")

    def _when_reached(self, begin: Callable[[], _T]) -> _T:
        """What `begin` returns, which is called until it reaches the server.

        Raises:
            Unreachable: it has raised that for `patience` seconds, or the server has never been reached.
        """
        end, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                result = begin()
            except Unreachable:
                if self._url not in _reached or time.monotonic() + pause > end:
                    raise
            else:
                _reached.add(self._url)
                return result
            time.sleep(pause)
            pause = min(2 * pause, 1.0)
