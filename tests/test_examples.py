"""Every example runs, and every benchmark starts, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BENCHMARKS = sorted(path for path in (ROOT / "benchmarks").glob("*.py") if "__main__" in path.read_text("utf-8"))


def run(example: Path, folder: Path) -> str:
    """What the example prints; it must end well within minutes and complain about nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "error", example], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs_and_leaves_no_files(example: Path, tmp_path: Path) -> None:
    printed = run(example, tmp_path)

    assert printed
    assert list(tmp_path.iterdir()) == []
    if example.stem == "best_of_n":
        assert "It beats random play." in printed


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.full
@pytest.mark.parametrize("program", BENCHMARKS, ids=lambda program: program.stem)
def test_a_benchmark_starts_with_what_is_installed(program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, program, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
