"""Limits on how many calls run at once."""

import asyncio
from collections import deque
from typing import Any, Self

from gem.errors import ToolTimeout


class Limiter:
    """At most `limit` calls at once (None for no limit), first come first served. One event loop, so no locks.

    A call in a thread cannot be stopped. One that is abandoned after its timeout becomes an *orphan*: it keeps its
    permit until its thread returns, so that the limit holds. Where orphans hold every permit, waiting could take
    forever, and fails instead.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self._name, self._limit = name, limit
        self._taken = 0
        self._orphans = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Take a permit, and wait until one is free.

        Raises:
            ToolTimeout: orphans hold every permit.
        """
        if self._limit is None or self._taken < self._limit:
            self._taken += 1
            return
        if self._orphans == self._limit:
            raise self._exhausted()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # The permit may have been handed over just before.
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.release()
            raise

    def release(self) -> None:
        """Give a permit back, to whoever has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken -= 1

    def orphan(self) -> None:
        """Note that the call of a permit was abandoned, and keeps it."""
        self._orphans += 1
        if self._orphans == self._limit:
            while self._waiting:
                turn = self._waiting.popleft()
                if not turn.done():
                    turn.set_exception(self._exhausted())

    def release_orphan(self) -> None:
        """Give back the permit of an abandoned call, which has returned."""
        self._orphans -= 1
        self.release()

    def _exhausted(self) -> ToolTimeout:
        return ToolTimeout(
            f"all {self._limit} permits of {self._name} are held by calls that have not returned since their timeout; "
            "make the tool itself stop in time"
        )


class Permit:
    """A permit of a limiter, as a context; after `keep_until` it is given back when an abandoned call returns."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self._kept = False

    async def __aenter__(self) -> Self:
        await self._limiter.acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._kept:
            self._limiter.release()

    def keep_until(self, done: "asyncio.Future[Any]") -> None:
        """Keep the permit until `done` is done."""
        self._kept = True
        self._limiter.orphan()
        done.add_done_callback(lambda _: self._limiter.release_orphan())
