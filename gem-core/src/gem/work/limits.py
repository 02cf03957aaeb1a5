"""Limits on how many calls run at once."""

import asyncio
from typing import Any, Self

from gem.errors import ToolTimeout


class Limiter:
    """At most `limit` calls at once (None for no limit), first come first served.

    A call in a thread cannot be stopped. One that is abandoned after its timeout becomes an *orphan*: it keeps its
    permit until its thread returns, so that the limit holds. While orphans hold every permit, waiting for one could
    take forever, and fails instead.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self._name, self._limit = name, limit
        self._free = asyncio.Semaphore(limit or 0)
        self._orphans = 0

    async def acquire(self) -> None:
        """Take a permit when one is free. Raises `ToolTimeout` if orphans hold every one."""
        if self._limit is None:
            return
        await self._free.acquire()
        if self._orphans == self._limit:
            self._free.release()  # the next that waits fails in the same way
            raise ToolTimeout(
                f"all {self._limit} permits of {self._name} are held by calls that have not returned since their "
                "timeout; make the tool itself stop in time"
            )

    def release(self) -> None:
        """Give a permit back, to the call that has waited longest."""
        if self._limit is not None:
            self._free.release()

    def orphan(self, call: "asyncio.Future[Any]") -> None:
        """Keep the permit of an abandoned call until `call` is done."""
        self._orphans += 1
        call.add_done_callback(self._returned)
        if self._orphans == self._limit:
            self._free.release()  # one permit too many, with which all that wait find out

    def _returned(self, _: object) -> None:
        if self._orphans != self._limit:
            self.release()
        self._orphans -= 1


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

    def keep_until(self, call: "asyncio.Future[Any]") -> None:
        """Keep the permit until `call` is done."""
        self._kept = True
        self._limiter.orphan(call)
