"""Ctrl-C between two steps of training, never during one."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def defer_interrupts() -> Generator[None]:
    """Ctrl-C inside the block is raised after it; a second Ctrl-C is raised at once.

    Only the main thread is interrupted, so in another thread nothing is deferred.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending = False

    def defer(*_: Any) -> None:
        nonlocal pending
        if pending:
            raise KeyboardInterrupt
        pending = True

    previous = signal.signal(signal.SIGINT, defer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pending:
        if not callable(previous):
            raise KeyboardInterrupt
        previous(signal.SIGINT, None)  # raises, unless a block around this one defers too


class Interrupts:
    """Ctrl-C in a run of several processes: it interrupts only where all of them are told, in `allowed`."""

    def __init__(self) -> None:
        self._pending = self._allowed = False

    def _press(self, *_: Any) -> None:
        if self._allowed or self._pending:
            raise KeyboardInterrupt
        self._pending = True

    @contextmanager
    def deferred(self) -> Generator[None]:
        """Defer Ctrl-C while the run lasts. A second one is raised at once."""
        previous = signal.signal(signal.SIGINT, self._press)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)

    @contextmanager
    def allowed(self) -> Generator[None]:
        """Ctrl-C is raised in the block, or at its beginning if it was pressed before."""
        self._allowed = True
        try:
            if self._pending:
                raise KeyboardInterrupt
            yield
        finally:
            self._allowed = False
