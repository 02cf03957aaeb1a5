"""The levels that tests of the sandbox run on, and why they skip the others."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from gem import sandbox
from gem.sandbox import Level, NotIsolated, Sandbox

CONFINED: tuple[Level, ...] = ("bubblewrap", "unshare", "landlock")
"""The levels that promise to keep programs in."""


@cache
def lacking() -> dict[Level, str]:
    """The levels that do not work here, each with the reason."""
    return {report.level: report.reason for report in sandbox.levels() if not report.works}


def need(level: Level) -> None:
    """Skip the test unless `level` works here."""
    if level in lacking():
        pytest.skip(f"level {level} does not work here: {lacking()[level]}")


def box_at(level: Level, **settings: object) -> Sandbox:
    """A sandbox of one slot at `level`."""
    need(level)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotIsolated)
        return Sandbox(level=level, **{"slots": 1, **settings})  # pyright: ignore[reportArgumentType]


@contextmanager
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary files of this process go to a folder that others do not use, and everybody may."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield folder
    shutil.rmtree(folder)
