"""Ctrl-C between two steps of training, never in the middle of one."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def whole() -> Generator[None]:
    """What is done inside is done to its end: Ctrl-C is raised after it. A second Ctrl-C is raised at once.

    Only the main thread is interrupted; in another one nothing has to be held back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending = False

    def hold_back(*_: Any) -> None:
        nonlocal pending
        if pending:
            raise KeyboardInterrupt
        pending = True

    usual = signal.signal(signal.SIGINT, hold_back)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if pending:
        raise KeyboardInterrupt
