"""Talking to a vLLM server: many requests for replies at once, and one call at a time that changes the server."""

import json
from collections.abc import Mapping
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple

from gem.errors import TrainingStopped
from gem.http.answers import NoAnswer
from gem.http.client import HttpClient, encoded
from gem.work.loops import shared_loop
from gem.work.threads import drain

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
        self._finished: SimpleQueue[tuple[str, Future[Any]]] = SimpleQueue()
        self._pending: dict[str, Future[Any]] = {}

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

    def begin(self, name: str, body: Mapping[str, Any]) -> None:
        """Ask for a reply; its result will be among those of `finished`."""
        future = shared_loop.submit(self._request("POST", GENERATE, body))
        self._pending[name] = future
        future.add_done_callback(lambda done: self._finished.put((name, done)))

    def cancel(self, name: str) -> None:
        """Close the connection of a request, which ends it at the server."""
        future = self._pending.pop(name, None)
        if future is not None:
            future.cancel()

    def finished(self, timeout: float | None) -> list[tuple[str, Any]]:
        """The results of requests that have ended since the last call, by name; waits for the first.

        Raises:
            TrainingStopped: the server does not answer, or refuses.
        """
        found = drain(self._finished, timeout)
        return [(name, done.result()) for name, done in found if self._pending.pop(name, None) is not None]

    def close(self) -> None:
        """Close all connections."""
        for name in list(self._pending):
            self.cancel(name)
        self._http.close()

    async def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float | None = None
    ) -> Any:
        what = f"the vLLM server at {self.address.socket or self.address.url}"
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
