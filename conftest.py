"""What pytest does before the first test, whichever package it belongs to."""

import gc
import os
import signal
from collections.abc import Generator

import pytest

gc.disable()  # until all is imported and collected: of that nothing is garbage


def pytest_configure() -> None:
    """Ctrl-C reaches the programs that tests start, and they write lines of any length into their pipes.

    A shell starts what runs in the background (`make test &`, `nohup`) with SIGINT ignored, and children inherit that.
    COLUMNS is what `gemx` breaks its lines at, and some machines set it for every program.
    """
    os.environ.pop("COLUMNS", None)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What was imported stays to the end: collections that leave it out take a tenth of the time."""
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
