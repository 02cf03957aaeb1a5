"""Limits of an HTTP server on clients that keep it waiting; for uvicorn, if installed.

They have a time to send a whole request and to read its answer, and there is a limit on how many of them there are:
uvicorn's `limit_concurrency` counts requests, and neither connections without one nor WebSockets.
"""

import asyncio
import sys
from collections.abc import Collection
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

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


def end_longest_waiting(connections: Collection[Any]) -> None:
    """Keep to `MOST_WAITING`, among the connections of a server.

    Args:
        connections: uvicorn's, with `waiting_since` where they can wait.
    """
    if len(connections) > MOST_WAITING:
        began: dict[Any, float] = {}
        for each in connections:
            since: float | None = getattr(each, "waiting_since", None)
            if since is not None:
                began[each] = since
        loop = asyncio.get_running_loop()
        for each in sorted(began, key=began.__getitem__)[: max(0, len(began) - MOST_WAITING)]:
            if loop.time() - began[each] < PATIENCE:  # and so are those that come after it
                loop.call_later(PATIENCE, end_longest_waiting, connections)
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
        end_longest_waiting(cast("Collection[Any]", self.connections))

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
