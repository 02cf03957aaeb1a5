"""Timeouts of an HTTP server for clients that do not send a whole request or do not read; for uvicorn, if installed."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

CLIENT_TIMEOUT = 30.0
"""Seconds that a client has to send a whole request, and to read its answer once the buffers are full."""


class TimedH11Protocol(H11Protocol):
    """uvicorn's HTTP protocol, which waits forever for the rest of a request, with timeouts."""

    _answered: RequestResponseCycle | None = None
    """The last request that was answered."""
    _request: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_request(None)

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
        self._request = self.loop.call_later(CLIENT_TIMEOUT, self._release)

    def _release(self) -> None:
        # While its body has not arrived completely, a request is a cycle with `more_body`.
        if self.cycle is self._answered or self.cycle.more_body:
            self.transport.abort()
