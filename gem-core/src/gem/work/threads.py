"""Daemon threads for functions that block."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from gem.work.lifetime import after_fork

_WAKING = 4
"""Most threads that are woken at once: each wants the interpreter, and where calls are short, one does all the work."""
_IDLE_GRACE = 5.0
"""Seconds that `close` waits for threads without work."""

T = TypeVar("T")


def drain(queue: SimpleQueue[T], timeout: float | None) -> list[T]:
    """The items in `queue`; waits up to `timeout` seconds for the first."""
    items: list[T] = []
    with suppress(Empty):
        items.append(queue.get(timeout=timeout))
        while True:
            items.append(queue.get_nowait())
    return items


class Outcome(Generic[T]):
    """The result or the error of a function, as a value, because futures do not accept every exception."""

    __slots__ = ("_value", "error")

    def __init__(self, value: Any = None, error: BaseException | None = None) -> None:
        self._value, self.error = value, error

    def get(self) -> T:
        """The value, or the error raised."""
        if self.error is not None:
            raise self.error
        return self._value


def attempt(function: Callable[[], T]) -> Outcome[T]:
    """Call `function`; it may raise anything, even `SystemExit`."""
    try:
        return Outcome(function())
    except BaseException as error:
        return Outcome(error=error)


class Threads:
    """A pool of daemon threads, started when needed.

    A program waits at its end for the threads of `concurrent.futures`: one function that hangs would keep it forever. A
    forked child begins without threads and without work.

    Args:
        name: of each thread.
        most: threads, and so calls at once; other calls wait. None for no limit but the operating system's.
    """

    def __init__(self, name: str, most: int | None = None) -> None:
        self._name = name
        self._limit = most or math.inf
        self._begin()
        after_fork(self._begin)

    def _begin(self) -> None:
        self._most = self._limit
        self._lock = threading.Lock()
        self._queue: deque[tuple[Callable[[], Any], Callable[[Any], object]]] = deque()
        """Work that waits for a thread."""
        self._threads: set[threading.Thread] = set()
        self._busy: set[threading.Thread] = set()
        self._running = 0
        """Calls that wait for a thread or are in one."""
        self._idle: list[threading.Lock] = []
        """The locks on which threads without work wait. With a queue.SimpleQueue, every call would wake two of them."""
        self._waking = 0
        """Threads that have been woken, and have not looked into the queue yet."""
        self._closed = False

    def start(self, work: Callable[[], Any], deliver: Callable[[Any], object]) -> None:
        """Call `deliver(work())` in a thread, unless the result is None. Neither may raise.

        When `deliver` is called, its thread counts as free: what waits for the result may start more work.

        Raises:
            RuntimeError: the pool is closed, or the operating system refuses the first thread.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the threads {self._name!r} are closed")
            self._running += 1
            self._queue.append((work, deliver))
            if self._idle:
                self._wake_next()
            if len(self._threads) < self._most:
                try:
                    self._grow()
                except RuntimeError:
                    self._queue.pop()
                    self._running -= 1
                    raise

    def submit(self, function: Callable[[], T]) -> "Future[Outcome[T]]":
        """Call `function` in a thread. It cannot be cancelled."""
        future: Future[Outcome[T]] = Future()
        future.set_running_or_notify_cancel()
        self.start(lambda: attempt(function), future.set_result)
        return future

    def map(self, function: Callable[..., T], *columns: Iterable[Any]) -> list[T]:
        """`function` of each row of `columns`, which have equal lengths; the first error in their order is raised."""
        futures = [self.submit(lambda row=row: function(*row)) for row in zip(*columns, strict=True)]
        return [future.result().get() for future in futures]

    def abandon(self, thread: threading.Thread) -> None:
        """Count a thread in a call that hangs no longer. Another may take its place; it ends when its call does."""
        with self._lock:
            if thread in self._busy:
                self._threads.discard(thread)
                self._busy.discard(thread)
                self._running -= 1
                with suppress(RuntimeError):  # the next call tries again
                    self._grow()

    def close(self, until: float = 0.0) -> None:
        """End the threads. Calls that have not begun are dropped; those that run are waited for `until` then, by
        `time.monotonic`, and their threads end with them."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            for wake in self._idle:
                wake.release()
            self._idle.clear()
            idle, busy = self._threads - self._busy, self._busy.copy()
        for thread in (idle | busy) - {threading.current_thread()}:
            thread.join(_IDLE_GRACE if thread in idle else max(0.0, until - time.monotonic()))

    def _grow(self) -> None:
        """Start a thread if there is work for one more. With the lock."""
        if len(self._threads) >= self._most or len(self._threads) >= self._running:
            return
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the operating system refuses more: those that exist share the work
            if not self._threads:
                raise
            self._most = len(self._threads)
        else:
            self._threads.add(thread)

    def _wake_next(self) -> None:
        """Wake a thread if there is work for one more. With the lock."""
        if self._idle and self._waking < _WAKING and self._waking < len(self._queue):
            self._waking += 1
            self._idle.pop().release()

    def _take(
        self, this: threading.Thread, wake: threading.Lock
    ) -> tuple[Callable[[], Any], Callable[[Any], object]] | None:
        """The next work of the calling thread, `this`; waits for it. None once the pool is closed."""
        woken = False
        while True:
            with self._lock:
                if woken:
                    self._waking -= 1
                if self._closed:
                    return None
                if self._queue:
                    self._busy.add(this)
                    taken = self._queue.popleft()
                    if self._idle:
                        self._wake_next()
                    return taken
                self._idle.append(wake)
            woken = wake.acquire()

    def _work(self) -> None:
        wake = threading.Lock()
        wake.acquire()
        this = threading.current_thread()
        while (taken := self._take(this, wake)) is not None:
            work, deliver = taken
            result = work()
            with self._lock:
                kept = this in self._busy
                self._busy.discard(this)
                self._running -= kept
            if result is not None:
                deliver(result)
            if not kept:
                return
            del taken, work, deliver, result  # not kept alive while the thread waits
