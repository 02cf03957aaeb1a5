"""Threads for functions that block."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

Job = tuple[Callable[[], Any], "Future[CallOutcome]"]


class CallOutcome:
    """What a function returned or raised, as a value, because futures do not accept every exception."""

    __slots__ = ("error", "value")

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self.value, self.error = value, error

    def get(self) -> Any:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Threads:
    """A pool of daemon threads that grows to as many as functions run at once.

    A program waits at its end for the threads of `concurrent.futures`, so one hanging function would keep it forever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._idle = 0
        self._threads: set[threading.Thread] = set()
        self._busy: set[threading.Thread] = set()
        self._closed = False

    def submit(self, function: Callable[[], Any]) -> "Future[CallOutcome]":
        """Run `function` in a thread."""
        future: Future[CallOutcome] = Future()
        future.set_running_or_notify_cancel()  # it cannot be cancelled from now on
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            else:
                thread = threading.Thread(target=self._work, name="gem-tool", daemon=True)
                self._threads.add(thread)
                thread.start()
        self._jobs.put((function, future))
        return future

    def close(self, timeout: float) -> None:
        """End the threads, and wait up to `timeout` seconds for those that are idle.

        A busy thread ends when its function returns.
        """
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, 0
            threads = self._threads - self._busy
        for _ in range(idle):
            self._jobs.put(None)
        until = time.monotonic() + timeout
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, future = job
            with self._lock:
                self._busy.add(threading.current_thread())
            outcome = attempt(function)
            with self._lock:
                self._busy.discard(threading.current_thread())
                closed = self._closed
                # Before the result is set, or a caller that waits for it might start another thread needlessly.
                self._idle += not closed
            future.set_result(outcome)
            # While waiting for the next job, it must not keep the objects of the last one alive.
            del job, function, future, outcome
            if closed:
                break


def attempt(function: Callable[[], Any]) -> CallOutcome:
    """Call `function`."""
    try:
        return CallOutcome(function())
    except BaseException as error:
        return CallOutcome(error=error)
