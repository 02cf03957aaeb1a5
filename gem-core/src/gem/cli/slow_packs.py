"""Packs that take long to load: commands name them, and `gemx doctor` leaves them out."""

import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

from gem.cli.output import echo
from gem.packs.discovery import Pack

SLOW = 5.0
"""Seconds after which a pack is named."""
_LEAST = 1.0
"""Seconds that each pack has, whatever others have taken."""
_AGAIN = 0.1
"""Seconds after which what goes on is ended once more."""


class NotEnded(BaseException):
    """Raised in a pack that takes too long to load. No `Exception`, which a loop of its own might catch and go on."""


@contextmanager
def named(pack: Pack) -> Generator[None]:
    """Say on standard error which pack is being loaded, if that takes long."""

    def say() -> None:
        where = f"{pack.distribution} ({pack.module})"
        without = f"GEM_DISABLE_PACKS={pack.distribution} leaves it out"
        with suppress(RuntimeError):  # standard error is being written to
            echo(f"still loading the pack {where} after {SLOW:g} s; {without}", fg="yellow", err=True)

    with _after(SLOW, say):
        yield


@contextmanager
def ended(until: float, pack: Pack) -> Generator[None]:
    """Raise `NotEnded` where a pack is being loaded, if that takes half of the time that is left until then, by
    `time.monotonic`."""
    seconds = max(_LEAST, (until - time.monotonic()) / 2)

    def end() -> None:
        raise NotEnded(f"it had not ended after {seconds:.1f} s (--seconds gives more)")

    with _after(seconds, end, again=_AGAIN):
        yield


@contextmanager
def _after(seconds: float, call: Callable[[], None], again: float = 0.0) -> Generator[None]:
    """Call a function in the main thread if this takes longer, and again every `again` seconds; elsewhere, and without
    alarms, never.

    An alarm interrupts what sleeps or waits, and needs neither a thread nor an event loop, which commands start late.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    over = False

    def ring(*_: Any) -> None:
        if not over:
            call()

    handler = signal.signal(signal.SIGALRM, ring)
    before = signal.setitimer(signal.ITIMER_REAL, seconds, again)
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, *before)
        signal.signal(signal.SIGALRM, handler)
