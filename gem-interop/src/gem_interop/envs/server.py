"""What environments on servers have in common: an address, faults, and patience with a server that restarts."""

import contextlib
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

from gem.checks import finite
from gem.errors import ConfigError, Fault, Unreachable
from gem.patience import Patience
from gem_interop.envs.base import ForeignEnv

_T = TypeVar("_T")

LARGEST = 1 << 24
"""The most bytes that are read of an answer."""

TIMEOUT = 60.0
"""Seconds for each answer, by default."""

PATIENCE = 30.0
"""Seconds in which a server that restarts is back, by default."""

UNREACHABLE = frozenset({502, 504})
"""The statuses by which a gateway says that it does not reach the server behind it."""

_patience = Patience()


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
            cannot be reached, by all envs of a process together.
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
        self._timeout, self._seconds = finite("timeout", timeout), finite("patience", patience)
        try:
            parts = urllib.parse.urlsplit(url)
            _ = parts.port
        except ValueError:  # such as a port that is not a number
            parts = None
        if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"the address of a server is like {self._namespace}:http://localhost:8000, not {url!r}")
        if parts.username is not None:
            raise ConfigError(f"a token in an address would be recorded: {self._where_a_token_goes}")

    def _fetch(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        open: Callable[..., Any] = urllib.request.urlopen,
    ) -> dict[str, Any]:
        """The JSON object that the server answers with, to a POST if there is a body.

        Args:
            path: what is asked for, below the address.
            body: sent as JSON.
            headers: for this server, and not for where it redirects to.
            open: of an opener, in place of the one without cookies.

        Raises:
            Unreachable: there is no connection, or a gateway says so.
            ServerFault: it refuses, does not answer in time, or with something else.
        """
        url, data = f"{self._url}/{path}", None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"} if data else {})
        for name, value in headers.items():
            request.add_unredirected_header(name, value)
        try:
            with open(request, timeout=self._timeout) as response:
                answer = json.loads(response.read(LARGEST))
        except urllib.error.HTTPError as error:
            said = ""
            with error, contextlib.suppress(OSError, http.client.HTTPException):
                said = error.read(500).decode(errors="replace")
            kind = Unreachable if error.code in UNREACHABLE else ServerFault
            raise kind(f"{url} answers with {error.code} {error.reason}: {said}") from error
        except (urllib.error.URLError, ConnectionError) as error:  # no connection, or one that a tunnel ends
            raise Unreachable(f"{self._url} cannot be reached: {reason_of(error)}") from error
        except OSError as error:
            raise ServerFault(f"{url} does not answer: {reason_of(error)}") from error
        except (http.client.HTTPException, ValueError, RecursionError) as error:
            raise ServerFault(f"{url} does not answer in JSON: {reason_of(error)}") from error
        if not isinstance(answer, dict):
            raise ServerFault(f"{url} answers with {answer!r:.80}, which is not an object")
        return cast("dict[str, Any]", answer)

    def _when_reached(self, begin: Callable[[], _T]) -> _T:
        """What `begin` returns, which is called until it reaches the server.

        Raises:
            Unreachable: it raises that although envs of this process have waited for `patience` seconds, or the server
                has never been reached.
        """
        pauses = _patience.pauses(self._url, self._seconds)
        while True:
            try:
                result = begin()
            except Unreachable:
                pause = next(pauses, None)
                if pause is None:
                    raise
            else:
                _patience.reached(self._url)
                return result
            time.sleep(pause)
