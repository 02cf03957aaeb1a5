"""What `make test` makes ready before the first test."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.full


def test_pytest_uses_the_assertions_that_were_made_ready(tmp_path, monkeypatch):
    """It would write a file anew if it did not accept it."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    test = tmp_path / "test_one.py"
    test.write_text("def test_one():\n    one = 1\n    assert one == 2\n")
    subprocess.run([sys.executable, ROOT / ".ci" / "rewrite.py", tmp_path], check=True, timeout=100)
    [ready] = tmp_path.rglob("*.pyc")
    made = ready.stat()

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", test], capture_output=True, text=True, check=False, timeout=100
    )

    assert "assert 1 == 2" in ran.stdout
    [used] = tmp_path.rglob("*.pyc")
    assert (used, used.stat().st_ino) == (ready, made.st_ino)
