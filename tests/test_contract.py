"""Every pack checks the contract in its own tests, and the page about the contract works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gem.packs.registry import registry
from gem.testing.checks import CHECKS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "contract.md"
OURS = {file.parent.name for file in ROOT.glob("gem-*/pyproject.toml") if "gem.packs" in file.read_text("utf-8")}
PACKS = [pack for pack in registry().load() if pack.distribution in OURS]


def test_every_pack_of_the_repository_is_installed_and_loads() -> None:
    assert {pack.distribution: pack.reason for pack in PACKS} == dict.fromkeys(OURS)


@pytest.mark.parametrize("pack", [pack.distribution for pack in PACKS if pack.envs])
def test_every_pack_with_environments_checks_the_contract_in_its_own_tests(pack: str) -> None:
    assert "contract_tests(" in (ROOT / pack / "tests" / "test_contract.py").read_text(encoding="utf-8")


def files_of_the_page() -> dict[str, str]:
    """File → its text, of the blocks that begin with a file's name in a comment."""
    return dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


def test_the_page_names_every_check() -> None:
    named = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert named == list(CHECKS)


@pytest.mark.full
def test_the_files_of_the_page_work_as_they_are(tmp_path: Path) -> None:
    for name, text in files_of_the_page().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tested = subprocess.run(tests, capture_output=True, check=False, text=True, cwd=tmp_path, env=clean)
    command = [sys.executable, "-m", "gem", "check", "coin:Coin"]
    checked = subprocess.run(command, capture_output=True, check=False, text=True, cwd=tmp_path, env=clean)

    assert f"{len(CHECKS) - 1} passed, 1 skipped" in tested.stdout, tested.stdout
    assert checked.returncode == 0
    assert f"1 environment: {len(CHECKS) - 1} passed, 0 failed, 1 skipped" in checked.stdout
