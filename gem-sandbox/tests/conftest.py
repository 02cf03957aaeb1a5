"""What the tests of the sandbox share."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# pytest's importlib mode puts nothing on the path, and tests import `sandbox_levels`, `attacks` and `cheats`.
FOLDER = Path(__file__).parent
sys.path.append(str(FOLDER))

LEVELS = ("bubblewrap", "unshare", "landlock", "seccomp", "process")


def _main_level() -> str:
    """The strongest level that works here, by a look that every worker of pytest-xdist answers alike."""
    bubblewrap = shutil.which("bwrap")
    command = [str(bubblewrap), "--unshare-all", "--ro-bind", "/", "/", "true"]
    works = bubblewrap and not subprocess.run(command, capture_output=True, check=False).returncode
    return "bubblewrap" if works else "landlock"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is tested at several levels is tested at all of them by `make test-all` only.

    How each level is chosen and checked, in test_levels, is for `make test` too.
    """
    ours = [item for item in items if FOLDER in item.path.parents and item.path.name != "test_levels.py"]
    others = set(LEVELS) - {_main_level()} if ours else set()
    for item in ours:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and any(isinstance(each, str) and each in others for each in callspec.params.values()):
            item.add_marker(pytest.mark.full)
