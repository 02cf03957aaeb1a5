"""Common parts of environments on servers: an address, faults, and patience with a server that restarts."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, cast
from urllib.parse import urlsplit

from msgspec import ValidationError, convert

from gem.checks import finite
from gem.errors import ConfigError, Fault, Unreachable
from gem.http.answers import Disconnected, NoAnswer, NotConnected
from gem.http.client import HttpClient, encoded
from gem.http.patience import Patience
from gem_interop.envs.base import ForeignEnv, plain

_T = TypeVar("_T")

TIMEOUT = 60.0
"""Seconds for each answer, by default."""

PATIENCE = 30.0
"""Seconds in which a server that restarts is back, by default."""

UNREACHABLE = frozenset({502, 504})
"""The statuses by which a gateway says that it does not reach the server behind it."""

_patience = Patience()


class ServerFault(Fault):
    """The server failed, or ended the episode."""


class ServerEnv(ForeignEnv):
    """An environment that a server plays.

    Args:
        url: its address.
        timeout: seconds for each answer.
        patience: seconds in which a server that had answered before is tried again at the start of an episode, if it
            cannot be reached, by all envs of a process together.
        max_turns: a limit beside that of the server.
        token: of the server.
        cookies: keep those of the server until `close`, and send them back.

    Raises:
        ConfigError: the address is not one of a server, or has a user name.
        MissingExtra: aiohttp is not installed.
    """

    _where_a_token_goes: ClassVar[str] = "leave it out"

    _unsaved: ClassVar[frozenset[str]] = ForeignEnv._unsaved | {"_headers", "_http"}

    def __init__(
        self,
        url: str,
        timeout: float,
        patience: float,
        max_turns: int | None,
        *,
        token: str | None = None,
        cookies: bool = False,
    ) -> None:
        super().__init__(max_turns=max_turns)
        self._url = url.rstrip("/")
        self._timeout, self._seconds = timeout, finite("patience", patience)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        # A connection per request: a server may close idle ones at any time, and then it is not known what it has read.
        self._http = HttpClient(self._url, timeout=timeout, headers=self._headers, cookies=cookies, reuse=False)
        if urlsplit(url).username is not None:
            raise ConfigError(f"a token in an address would be recorded: {self._where_a_token_goes}")

    def close(self) -> None:
        self._http.close()

    def _fetch(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that the server answers with, to a POST if there is a body.

        Args:
            path: what is asked for, below the address.
            body: sent as JSON.

        Raises:
            Unreachable: there is no connection, or a gateway says so.
            ServerFault: it refuses, does not answer in time, or with something else.
        """
        url = f"{self._url}/{path}"
        method, data = ("GET", None) if body is None else ("POST", encoded(body))
        try:
            answer = self._http.call(method, f"/{path}", data)
        except (NotConnected, Disconnected) as error:  # no connection, or one that a tunnel ends
            raise Unreachable(f"{self._url} cannot be reached: {error}") from error
        except NoAnswer as error:
            raise ServerFault(f"{url} does not answer: {error}") from error
        if answer.status != 200:
            kind = Unreachable if answer.status in UNREACHABLE else ServerFault
            raise kind(f"{url} answers with {answer}")
        try:
            said = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise ServerFault(f"{url} does not answer in JSON: {type(error).__name__} {error}") from error
        if not isinstance(said, dict):
            raise ServerFault(f"{url} answers with {said!r:.80}, which is not an object")
        return cast("dict[str, Any]", said)

    def _read(self, said: object, kind: type[_T]) -> _T:
        """What the server said as a msgspec struct; `ServerFault` if it is something else."""
        try:
            return convert(said, kind)
        except ValidationError as error:
            raise ServerFault(f"{self._url} answers with something else than is asked for: {error}") from error

    def _plain(self, info: Any) -> Any:
        """`plain`, of what the server says beside the observation; `ServerFault` if it is nested too deep for that."""
        try:
            return plain(info)
        except RecursionError:
            raise ServerFault(f"{self._url} answers with an info that is nested too deep") from None

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
