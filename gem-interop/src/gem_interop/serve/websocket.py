"""uvicorn's WebSocket protocol for clients that do not read what they asked for."""

import asyncio
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gem.http.client_timeouts import CLIENT_TIMEOUT


class TimedWebSocketProtocol(WebSocketsSansIOProtocol):
    """A connection that does not take its answers is ended, instead of waiting for it with its session."""

    _reading: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def waiting_since(self) -> float | None:
        """Time when it began to wait for the end of its client, by the clock of its loop; None if it does not wait."""
        return self._since if self.close_sent and not self.transport.is_closing() else None

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.close_sent:  # uvicorn logs an error for an upgrade that is refused, because it was not completed
            self.handshake_complete = True
            self._since = self._since or self.loop.time()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(CLIENT_TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_timeout()
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # what is left to be sent would keep it open

    def send_receive_event_to_app(self) -> None:
        # uvicorn stops reading after each message, with two system calls: here only while one waits already.
        self.read_paused = True
        super().send_receive_event_to_app()
        if self.queue.qsize() > 1:
            self.transport.pause_reading()

    def _end_timeout(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
