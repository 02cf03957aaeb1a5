"""What pytest does before the first test, whichever package it belongs to."""

import gc


def pytest_collection_finish() -> None:
    """What was imported stays to the end: collections that leave it out take a tenth of the time."""
    gc.collect()
    gc.freeze()
