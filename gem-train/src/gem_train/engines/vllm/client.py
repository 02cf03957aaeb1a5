"""Talking to a vLLM server: many requests for replies at once, and one call at a time that changes the server."""

import json
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

from gem.errors import TrainingStopped
from gem.http.answers import NoAnswer
from gem.http.client import HttpClient, encoded
from gem.work.loops import shared_loop

GENERATE = "/inference/v1/generate"
"""Path at which ids go in, and come out with their log-probabilities."""
_AT_ONCE = 10**6
"""Requests at once: vLLM itself queues them."""


class Address(NamedTuple):
    """Address of a server."""

    url: str
    socket: str | None = None
    """Socket of a server on this machine that has no port."""
    key: str | None = None


class ServerClient:
    """A connection to one server; closed by its owner.

    Args:
        address: of the server.
        timeout: seconds for one call.

    Raises:
        MissingExtra: aiohttp is not installed.
    """

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self._http = HttpClient(
            address.url,
            timeout=timeout,
            at_once=_AT_ONCE,
            headers={"Authorization": f"Bearer {address.key}"} if address.key else {},
            reuse=False,  # the server closes connections that were idle for 5 s, or had an error, when it likes
            socket=address.socket,
        )

    @property
    def where(self) -> str:
        """What names the server in messages."""
        return self.address.socket or self.address.url

    def call(
        self, path: str, body: Mapping[str, Any] | None = None, *, method: str = "POST", timeout: float | None = None
    ) -> Any:
        """The JSON that the server answers; None if it answers with something else.

        Args:
            path: of the call.
            body: of it.
            method: of it.
            timeout: in seconds; by default the client's.

        Raises:
            TrainingStopped: it does not answer, or refuses.
        """
        return shared_loop.call(self._request(method, path, body, timeout))

    def ask(self, body: Mapping[str, Any]) -> "Future[Any]":
        """Ask for a reply; the result is what the server answers, or the error of `call`. Cancelling ends it there."""
        return shared_loop.submit(self._request("POST", GENERATE, body))

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    async def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float | None = None
    ) -> Any:
        what = f"the vLLM server at {self.where}"
        data = None if body is None else encoded(body)
        try:
            answer = await self._http.ask(method, path, data, timeout=timeout, read=lambda answer: answer)
        except NoAnswer as error:
            raise TrainingStopped(f"{what} does not answer {path}: {error}") from None
        if answer.status >= 400:
            raise TrainingStopped(f"{what} answers {path} with status {answer}")
        try:
            return json.loads(answer.body)
        except ValueError:
            return None
