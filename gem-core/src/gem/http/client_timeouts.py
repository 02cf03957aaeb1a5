"""Limits of an HTTP server on clients that keep it waiting; for uvicorn, if installed.

On Linux these are the connections that `gem.http.entrance` has handed over, elsewhere all of them.

They have a time to send a whole request and to read its answer, and there is a limit on how many of them there are:
uvicorn's `limit_concurrency` counts requests, and neither connections without one nor WebSockets.
"""

import asyncio
import sys
from collections.abc import Collection
from operator import attrgetter
from typing import Any, cast
from weakref import WeakSet

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

CLIENT_TIMEOUT = 30.0
"""Seconds that a client has to send a whole request, and to read its answer once the buffers are full."""


def _most_waiting() -> int:
    """A quarter of the files that this process may have open, or less: as many may be accepted at once, before they
    can be counted, and the rest is for those that are served."""
    if sys.platform == "win32":
        return 512
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2048 if files == resource.RLIM_INFINITY else min(2048, files // 4)


MOST_WAITING = _most_waiting()
"""Most connections that wait for their client. Of more, the one that has waited longest is ended. As a server's
`backlog`, it limits those that are accepted at once."""
PATIENCE = 1.0
"""Seconds that any client has to send something: what it has sent may not have been read when the next ones connect."""


_COUNT = 0.05
"""Seconds until connections are counted: those that begin at once are counted once."""
_counting: WeakSet[ServerState] = WeakSet()
"""Servers whose connections will be."""


def end_longest_waiting(server: ServerState, after: float = _COUNT) -> None:
    """Keep a server to `MOST_WAITING`, after so many seconds.

    Its connections have `waiting_since` where they can wait.
    """
    if len(server.connections) > MOST_WAITING and server not in _counting:
        _counting.add(server)
        asyncio.get_running_loop().call_later(after, _end_surplus, server)


def _end_surplus(server: ServerState) -> None:
    _counting.discard(server)
    connections = cast("Collection[Any]", server.connections)
    waiting = [each for each in connections if getattr(each, "waiting_since", None) is not None]
    waiting.sort(key=attrgetter("waiting_since"))
    now = asyncio.get_running_loop().time()
    for each in waiting[: max(0, len(waiting) - MOST_WAITING)]:
        if now - each.waiting_since < PATIENCE:  # and so have those that come after it
            end_longest_waiting(server, PATIENCE)
            break
        each.transport.abort()


class TimedH11Protocol(H11Protocol):
    """uvicorn's HTTP protocol, which waits forever for the rest of a request, with timeouts."""

    _answered: RequestResponseCycle | None = None
    """The last request that was answered."""
    _request: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def waiting_since(self) -> float | None:
        """Begin of its wait for the rest of a request, by the clock of its loop; None if it does not wait."""
        # While its body has not arrived completely, a request is a cycle with `more_body`.
        waits = self.cycle is self._answered or self.cycle.more_body
        return self._since if waits and not self.transport.is_closing() else None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_request(None)
        end_longest_waiting(self.server_state)

    def on_response_complete(self) -> None:
        answered = self.cycle
        super().on_response_complete()
        self._await_request(answered)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(CLIENT_TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timeouts()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._end_timeouts()  # the connection is another protocol's from now on
        super().handle_websocket_upgrade(event)

    def _end_timeouts(self) -> None:
        for timer in (self._request, self._reading):
            if timer is not None:
                timer.cancel()

    def _await_request(self, answered: RequestResponseCycle | None) -> None:
        if self._request is not None:
            self._request.cancel()
        self._answered = answered
        self._since = self.loop.time()
        self._request = self.loop.call_later(CLIENT_TIMEOUT, self._release)

    def _release(self) -> None:
        if self.waiting_since is not None:
            self.transport.abort()
