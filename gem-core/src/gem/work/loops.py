"""Event loops in threads of their own, for code that is not async."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from gem.work.lifetime import after_fork, at_exit

GRACE = 5.0
"""Seconds that `close` waits for the loop."""
_CANCELLED = 0.5
"""Seconds that the coroutines of a loop have to end when it is closed."""

T = TypeVar("T")
Closing = Callable[[], Coroutine[Any, Any, None]]


class EventLoop:
    """An event loop in a daemon thread, from the first call until `close` or the end of the process.

    A forked child starts another loop with its first call; coroutines of its parent's loop never end there.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._begin()
        after_fork(self._begin)
        at_exit(self.close)

    def _begin(self) -> None:
        # Reentrant, because garbage collection can start a coroutine at any point.
        self._lock = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._before: Closing | None = None
        self._after: Closing | None = None
        # An event loop has only weak references to what it runs, and a future one to its coroutine.
        self._unfinished: set[Future[Any] | asyncio.Task[Any]] = set()

    def start(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Start coroutines for whose end nobody waits, and which do not raise: at a third of the cost of `submit`.

        Raises:
            RuntimeError: the loop is closed.
        """
        coroutines = list(work)
        with self._lock:
            try:
                loop = self._opened()
            except RuntimeError:
                for each in coroutines:
                    each.close()
                raise
            loop.call_soon_threadsafe(self._start, loop, coroutines)

    def _start(self, loop: asyncio.AbstractEventLoop, coroutines: Sequence[Coroutine[Any, Any, None]]) -> None:
        for each in coroutines:
            task = loop.create_task(each)
            self._unfinished.add(task)
            task.add_done_callback(self._unfinished.discard)

    def submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start a coroutine. Raises `RuntimeError` if the loop is closed. Cancelling its future cancels it."""
        with self._lock:
            try:
                loop = self._opened()
            except RuntimeError:
                work.close()
                raise
            # Under the lock, so that `close` cannot come in between.
            future = asyncio.run_coroutine_threadsafe(work, loop)
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def _opened(self) -> asyncio.AbstractEventLoop:
        """The running loop; `RuntimeError` if it is closed."""
        if self._closed:
            raise RuntimeError(f"the event loop {self._name!r} is closed")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, args=[self._loop], name=self._name, daemon=True)
            self._thread.start()
        return self._loop

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """The result of a coroutine, or what it raises.

        Args:
            work: the coroutine; it is cancelled if the caller does not wait for its end.
            timeout: in seconds.

        Raises:
            TimeoutError: it takes longer.
            RuntimeError: the loop is closed, or the caller runs in it and would wait for itself.
        """
        if self.is_current:
            work.close()
            raise RuntimeError(f"a coroutine of the event loop {self._name!r} cannot wait for the loop: use await")
        future = self.submit(work)
        try:
            return future.result(timeout)
        except BaseException:  # such as Ctrl-C; cancelling a future that is done does nothing
            future.cancel()
            raise

    @property
    def is_current(self) -> bool:
        """True in the thread of the loop."""
        return threading.current_thread() is self._thread

    def close(self, *, before: Closing | None = None, after: Closing | None = None, timeout: float = GRACE) -> None:
        """Cancel what is running and end the thread; a coroutine that blocks the loop is left. Closing twice is fine.

        Args:
            before: called in the loop, before the others are cancelled.
            after: called in the loop after them, to close what belongs to the loop, such as connections.
            timeout: seconds to wait.
        """
        with self._lock:
            closed, self._closed = self._closed, True
            loop, thread = self._loop, self._thread
        if closed or loop is None or thread is None or not thread.is_alive():
            return
        self._before, self._after = before, after
        loop.call_soon_threadsafe(loop.stop)
        if not self.is_current:
            thread.join(timeout)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while not self._closed:
            try:
                loop.run_forever()
            except (SystemExit, KeyboardInterrupt):  # raised by a coroutine, whose future has it
                continue
        if self._before is not None:
            loop.run_until_complete(self._before())
        unfinished = asyncio.all_tasks(loop)
        for task in unfinished:
            task.cancel()
        if unfinished:
            loop.run_until_complete(asyncio.wait(unfinished, timeout=_CANCELLED))
        if self._after is not None:
            loop.run_until_complete(self._after())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


shared_loop = EventLoop("gem-loop")
"""The loop of this process for whatever does not need one of its own."""
