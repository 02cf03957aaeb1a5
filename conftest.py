"""What pytest does before the first test, whichever package it belongs to."""

import gc
import signal


def pytest_configure() -> None:
    """Ctrl-C reaches the programs that tests start.

    A shell starts what runs in the background (`make test &`, `nohup`) with SIGINT ignored, and children inherit that.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What was imported stays to the end: collections that leave it out take a tenth of the time."""
    gc.collect()
    gc.freeze()
