"""Patience with a server that may be restarting."""

import time
from collections.abc import Iterator


class Patience:
    """Memory of the servers that have answered this process, and of the times at which they were lost.

    A server that has never answered is not waited for: its address may be wrong. Those who depend on one that is lost
    wait together, from the first attempt that failed, because they may make their attempts one after another.
    """

    def __init__(self) -> None:
        self._lost: dict[str, float | None] = {}
        """Time of the loss of each server; None for one that answers."""

    def reached(self, server: str) -> None:
        """The server has answered."""
        self._lost[server] = None

    def pauses(self, server: str, seconds: float) -> Iterator[float]:
        """Seconds to wait after each attempt that fails, while there shall be another.

        Args:
            server: its address, or another name.
            seconds: for how long it is tried.
        """
        began, pause = time.monotonic(), 0.05
        while server in self._lost:
            now = time.monotonic()
            since = self._lost[server]
            if since is None:
                since = self._lost[server] = now
            # Others may have reached it meanwhile, again and again.
            if now + pause > min(began, since) + seconds:
                return
            yield pause
            pause = min(2 * pause, 1.0)
