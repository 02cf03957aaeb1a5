"""Talking to a vLLM server: many requests for replies at once, and one call at a time that changes the server."""

import asyncio
import json
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, NamedTuple

from gem.errors import GemError, MissingExtra, TrainingStopped
from gem.failure import one_line
from gem.vector.queues import drain

GENERATE = "/inference/v1/generate"
"""Where ids go in, and come out with their log-probabilities."""


class Address(NamedTuple):
    """Where a server is."""

    url: str
    socket: str | None = None
    """Of a server on this machine that has no port."""
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
        try:
            import aiohttp
        except ImportError as error:
            raise MissingExtra(f"asking a vLLM server needs aiohttp ({error}): pip install 'gem-core[llm]'") from error
        self._aiohttp = aiohttp
        self.address = address
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self._finished: SimpleQueue[tuple[str, Future[Any]]] = SimpleQueue()
        self._pending: dict[str, Future[Any]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gem-vllm-server", daemon=True)
        self._thread.start()

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
        return self._run(self._request(method, path, body, timeout or self._timeout)).result()

    def begin(self, name: str, body: Mapping[str, Any]) -> None:
        """Ask for a reply; its result will be among those of `finished`."""
        future = self._run(self._request("POST", GENERATE, body, self._timeout))
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
        if self._thread.is_alive():
            for name in list(self._pending):
                self.cancel(name)
            with suppress(TimeoutError, CancelledError):  # the process can end without
                self._run(self._close()).result(timeout=5)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _request(self, method: str, path: str, body: Mapping[str, Any] | None, timeout: float) -> Any:
        aiohttp = self._aiohttp
        where = self.address.socket or self.address.url
        limit = aiohttp.ClientTimeout(total=timeout)
        try:
            data = None if body is None else json.dumps(body).encode()
            headers = {"Content-Type": "application/json"} if data else {}
            async with self._open().request(
                method, self.address.url + path, data=data, headers=headers, timeout=limit
            ) as response:
                content = await response.read()
        except TimeoutError:
            raise TrainingStopped(f"the vLLM server at {where} did not answer {path} in {timeout:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TrainingStopped(f"the vLLM server at {where} does not answer {path}: {one_line(error)}") from None
        if response.status >= 400:
            raise _refused(where, path, response.status, content)
        try:
            return json.loads(content)
        except ValueError:
            return None

    def _open(self) -> Any:
        if self._session is None:
            aiohttp = self._aiohttp
            socket, key = self.address.socket, self.address.key
            # A connection per call: the server closes those that were idle for 5 s, or had an error, when it likes.
            pool: Any = {"limit": 0, "force_close": True}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.UnixConnector(socket, **pool) if socket else aiohttp.TCPConnector(**pool),
                headers={"Authorization": f"Bearer {key}"} if key else {},
            )
        return self._session

    async def _close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _refused(where: str, path: str, status: int, content: bytes) -> GemError:
    said = " ".join(content[:500].decode(errors="replace").split())
    return TrainingStopped(f"the vLLM server at {where} answers {path} with status {status}: {said}")
