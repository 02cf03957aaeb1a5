"""Limits on how many calls run at once."""

import asyncio
from collections import deque
from typing import Any, Self

from gem.errors import ToolTimeout


class Gate:
    """At most `limit` calls at once (None for no limit), first come first served. One event loop, so no locks.

    A call in a thread cannot be stopped. One that is given up after its timeout keeps its place until its thread comes
    back, so that the limit holds. Where every place is kept so, waiting could take forever, and fails instead.
    """

    def __init__(self, name: str, limit: int | None) -> None:
        self._name, self._limit = name, limit
        self._taken = 0
        self._stranded = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Take a place, and wait for it where there is none.

        Raises:
            ToolTimeout: every place is kept by a call that was given up.
        """
        if self._limit is None or self._taken < self._limit:
            self._taken += 1
            return
        if self._stranded == self._limit:
            raise self._stuck()
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            # The place may have been handed over just before.
            if place.done() and not place.cancelled() and place.exception() is None:
                self.leave()
            raise

    def leave(self) -> None:
        """Give a place back, to whoever has waited longest."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._taken -= 1

    def strand(self) -> None:
        """Say that the call in a place was given up, and keeps it."""
        self._stranded += 1
        if self._stranded == self._limit:
            while self._waiting:
                place = self._waiting.popleft()
                if not place.done():
                    place.set_exception(self._stuck())

    def come_back(self) -> None:
        """Say that a call that was given up has come back at last."""
        self._stranded -= 1
        self.leave()

    def _stuck(self) -> ToolTimeout:
        return ToolTimeout(
            f"all {self._limit} places of {self._name} are kept by calls that have not come back since their timeout; "
            "let the tool itself give up in time"
        )


class Place:
    """A place behind a gate, as a context; `keep` leaves it taken until a call that was given up comes back."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._kept = False

    async def __aenter__(self) -> Self:
        await self._gate.enter()
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._kept:
            self._gate.leave()

    def keep(self, until: "asyncio.Future[Any]") -> None:
        """Keep the place until `until` is done."""
        self._kept = True
        self._gate.strand()
        until.add_done_callback(lambda _: self._gate.come_back())
