"""The levels that tests of the sandbox run on, and why they skip the others."""

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import gem_sandbox as sandbox
from gem_sandbox import Level, NotIsolated, Sandbox

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


def as_nobody(code: str) -> str:
    """What `code` prints when a user without any rights runs it, with the system's interpreter."""
    python = "/usr/bin/python3"
    if not Path(python).exists():
        pytest.skip("no interpreter that every user can read")
    if os.geteuid() != 0:
        pytest.skip("only root can change to another user")
    source = str(Path(sandbox.__file__).parents[1])
    done = subprocess.run(
        [python, "-W", "ignore", "-c", f"import sys\nif sys.version_info < (3, 11): sys.exit('too old')\n{code}"],
        env={"PYTHONPATH": source, "PATH": os.environ["PATH"]},
        user=65534,
        group=65534,
        extra_groups=[],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "too old" in done.stderr or "No module named 'gem_sandbox'" in done.stderr:
        pytest.skip(f"{python} is too old, or cannot read this checkout")
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def own_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Temporary files of this process go to a folder that others do not use, and everybody may."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o1777)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield folder
    shutil.rmtree(folder)
