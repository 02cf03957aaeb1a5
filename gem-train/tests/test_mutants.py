"""Faults planted into the trainer, each of which a named test must find.

`mutants.toml` lists them: a file, the text to replace, what replaces it, and the tests that must fail then.
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
SOURCES = (TESTS.parent / "src", TESTS.parents[1] / "gem-core" / "src")
MUTANTS: list[dict[str, Any]] = tomllib.loads((TESTS / "mutants.toml").read_text("utf-8"))["mutant"]

QUICK = [str(TESTS / f"test_{name}.py") for name in ("processes", "context", "scores", "optimizer")]
"""Files of tests that find most of the faults."""

pytestmark = pytest.mark.skipif(
    not all(source.is_dir() for source in SOURCES), reason="the tests run without the source tree"
)


def source_of(mutant: Mapping[str, Any]) -> Path:
    """The folder of the packages to which the mutant's file belongs."""
    return next(source for source in SOURCES if (source / mutant["file"].partition("/")[0]).is_dir())


def planted(mutant: Mapping[str, Any]) -> str:
    """The text of the mutant's file with its fault."""
    text = (source_of(mutant) / mutant["file"]).read_text("utf-8")
    assert text.count(mutant["old"]) == 1, f"{mutant['file']} holds this {text.count(mutant['old'])} times, not once"
    return text.replace(mutant["old"], mutant["new"])


@pytest.fixture(scope="module")
def runs() -> Iterator[subprocess.Popen[str]]:
    """The program that runs tests."""
    with subprocess.Popen(
        [sys.executable, str(TESTS / "faulty.py")],
        cwd=TESTS.parents[1],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        yield program
        assert program.stdin is not None
        program.stdin.close()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_planted_fault_is_one_in_the_code_of_today(mutant: dict[str, Any]) -> None:
    compile(planted(mutant), mutant["file"], "exec")


def links(source: Path, tree: Path) -> None:
    """Fill a tree with links to every file of the code."""
    for file in source.rglob("*"):
        if file.suffix == ".py":
            copy = tree / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(file)


def ran(runs: Any, tree: Path, tests: list[str]) -> tuple[str, str]:
    """Exit code of tests of the code in a tree, and what they printed."""
    log = tree / "log"
    print(json.dumps({"tree": str(tree), "arguments": tests, "log": str(log)}), file=runs.stdin, flush=True)
    code = runs.stdout.readline().strip()
    return code, log.read_text("utf-8")


@pytest.mark.full
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_planted_fault_is_found(mutant: dict[str, Any], tmp_path: Path, runs: Any) -> None:
    links(source_of(mutant), tmp_path)
    faulty = tmp_path / mutant["file"]
    faulty.unlink()
    faulty.write_text(planted(mutant), "utf-8")

    code, printed = ran(runs, tmp_path, mutant["tests"])

    assert code == "1", printed[-3000:]
    assert "failed" in printed.splitlines()[-1], printed[-3000:]


@pytest.mark.full
def test_without_a_fault_none_is_found(tmp_path: Path, runs: Any) -> None:
    """Also where processes compute together, which start in another way there."""
    links(SOURCES[0], tmp_path)

    code, printed = ran(runs, tmp_path, [*QUICK, "-m", "not full"])

    assert code == "0", printed[-3000:]
