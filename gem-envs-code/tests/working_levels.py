"""Which levels of the sandbox tests can use here."""

import functools

import pytest

import gem_sandbox as sandbox


@functools.cache
def broken_levels():
    """Each level that does not work here, with the reason."""
    return {report.level: report.reason for report in sandbox.levels() if not report.works}


def need(level):
    """Skip the test unless `level` works here."""
    if level in broken_levels():
        pytest.skip(f"level {level} does not work here: {broken_levels()[level]}")
