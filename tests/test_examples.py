"""Every example runs, and every benchmark starts, in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gem_train import preflight
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SETTINGS = sorted((ROOT / "examples").glob("*.toml"))
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


@pytest.mark.parametrize("file", SETTINGS, ids=lambda file: file.stem)
def test_settings_in_a_file_are_accepted(file: Path, tmp_path: Path) -> None:
    id = re.search(r"^# gemx train (\S+:\S+)? *--", file.read_text("utf-8"), re.MULTILINE)
    assert id is not None
    given = {"id": id[1]} if id[1] else {}
    preflight.check(load_config([read_toml(file), given]), tmp_path)


def test_there_are_examples() -> None:
    assert EXAMPLES
    assert SETTINGS


@pytest.mark.full
@pytest.mark.parametrize("program", BENCHMARKS, ids=lambda program: program.stem)
def test_a_benchmark_starts_with_what_is_installed(program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, program, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
