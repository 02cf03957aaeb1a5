"""Threads for functions that block."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

Job = tuple[Callable[[], Any], "Future[CallOutcome]"]


class CallOutcome:
    """What a function returned, or what it raised: carried as a value, because futures refuse some exceptions."""

    __slots__ = ("error", "value")

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self.value, self.error = value, error

    def get(self) -> Any:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Threads:
    """As many daemon threads as functions run at once, each kept for the next function.

    Those of `concurrent.futures` are waited for when the program ends, so one hanging function would hold it forever.
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
        future.set_running_or_notify_cancel()  # from here on nobody can cancel it
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
        """End the threads, and wait up to `timeout` seconds for those that have nothing to do.

        One that is at work ends after it, whenever that is.
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
                # Before the result is out, or whoever waits for it could start a thread that nobody needs.
                self._idle += not closed
            future.set_result(outcome)
            # While it waits for the next job, it must not keep alive what the last one held.
            del job, function, future, outcome
            if closed:
                break


def attempt(function: Callable[[], Any]) -> CallOutcome:
    """What comes of calling `function`."""
    try:
        return CallOutcome(function())
    except BaseException as error:
        return CallOutcome(error=error)
