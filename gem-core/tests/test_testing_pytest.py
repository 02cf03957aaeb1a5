"""The pytest plugin, as a pack author meets it: a fresh pytest in a folder of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

CONTRACT = """
from gem.testing import contract_tests

test_contract = contract_tests("planted_envs:Good", "planted_envs:NanReward", episodes=2)
"""


def run_pytest(folder: Path, test_file: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_contract.py").write_text(test_file)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", "--strict-markers", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "GEM_PACKS": "core", "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, capture_output=True, check=False, text=True, cwd=folder, env=environment)


def test_two_lines_make_one_test_for_each_check_of_each_env(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, CONTRACT, "-v", "-rA")

    assert done.returncode == 1
    assert "1 failed, 33 passed, 2 skipped" in done.stdout
    assert "PASSED test_contract.py::test_contract[planted_envs:Good-determinism]" in done.stdout
    assert "FAILED test_contract.py::test_contract[planted_envs:NanReward-types]" in done.stdout


def test_a_failure_shows_what_happened_and_how_to_fix_it_and_nothing_of_our_own(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, CONTRACT, "-k", "NanReward and types")

    assert "gives the reward nan (a float).\nA reward is a finite number" in done.stdout
    assert "def check_types" not in done.stdout


@pytest.mark.full
def test_an_env_that_raises_shows_its_traceback(tmp_path: Path) -> None:
    raises = 'from gem.testing import contract_tests\ntest_it = contract_tests("sample_envs:Fragile")\n'
    done = run_pytest(tmp_path, raises, "-k", "history")

    assert 'sample_envs.py", line' in done.stdout
    assert "OSError: the disk is full" in done.stdout


@pytest.mark.full
def test_the_option_overrides_how_many_episodes_are_played(tmp_path: Path) -> None:
    loser = 'from gem.testing import contract_tests\ntest_it = contract_tests("planted_envs:Loser", episodes=1)\n'
    done = run_pytest(tmp_path, loser, "-k", "expert", "--gem-episodes", "5")
    wrong = run_pytest(tmp_path, loser, "--gem-episodes", "0")

    assert "Of 20 episodes" in done.stdout
    assert wrong.returncode == pytest.ExitCode.USAGE_ERROR


def test_a_name_that_stands_for_nothing_is_an_error_of_collection(tmp_path: Path) -> None:
    wrong = 'from gem.testing import contract_tests\ntest_it = contract_tests("core:Ecko-v0")\n'
    done = run_pytest(tmp_path, wrong)

    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "Did you mean 'core:Echo-v0'?" in done.stdout
    assert "Traceback" not in done.stdout


def test_one_line_makes_a_test_of_each_env_that_fails_with_what_the_audit_found(tmp_path: Path) -> None:
    audit = """
from gem.testing import audit_tests

test_audit = audit_tests("planted_tasks:Sum", "planted_tasks:SilenceWins")
"""
    done = run_pytest(tmp_path, audit, "-rA")

    assert "1 failed, 1 passed" in done.stdout
    assert "PASSED test_contract.py::test_audit[planted_tasks:Sum]" in done.stdout
    assert "silence: An empty reply, in every turn, wins" in done.stdout
    assert re.search(r"\nseed \d+, actions ''", done.stdout)


def test_a_project_without_contract_tests_loads_nothing_of_gem_but_the_plugin(tmp_path: Path) -> None:
    program = """
import json, sys

def test_nothing():
    names = sorted(name for name in sys.modules if name.split(".")[0] in ("gem", "numpy", "pydantic", "click", "rich"))
    print("\\n" + json.dumps(names))
"""
    done = run_pytest(tmp_path, program, "-s", "-p", "no:anyio", "-p", "no:xdist", "-p", "no:timeout")
    (loaded,) = (line for line in done.stdout.splitlines() if line.startswith("["))

    assert json.loads(loaded) == ["gem", "gem.testing", "gem.testing.pytest_plugin"]
