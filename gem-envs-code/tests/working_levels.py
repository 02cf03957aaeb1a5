"""Which levels of the sandbox tests can use here."""

import functools

import pytest

from gem import sandbox


@functools.cache
def lacking():
    """The levels that do not work here, each with the reason."""
    return {report.level: report.reason for report in sandbox.levels() if not report.works}


def need(level):
    """Skip the test unless `level` works here."""
    if level in lacking():
        pytest.skip(f"level {level} does not work here: {lacking()[level]}")
