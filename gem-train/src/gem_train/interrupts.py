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
        raise KeyboardInterrupt
