"""What the environments were run with in the frameworks of others: `make interop-NAME-pin` writes these versions."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "frameworks"
NAMES = sorted(path.name.removesuffix("-requirements.txt") for path in FOLDER.glob("*-requirements.txt"))


def requirements(path: Path) -> list[Requirement]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Requirement(line) for line in lines if not line.startswith("#")]


@pytest.mark.parametrize("name", NAMES)
def test_each_package_that_a_framework_requires_is_pinned_once_and_where_make_pins_it(name: str) -> None:
    pins = {canonicalize_name(pin.name): pin for pin in requirements(FOLDER / f"{name}-constraints.txt")}
    required = [*requirements(FOLDER / f"{name}-requirements.txt"), *requirements(FOLDER / f"{name}-no-deps.txt")]

    assert {str(pin) for pin in pins.values() if not re.fullmatch(r"==[^+*,]+", str(pin.specifier))} == set()
    for requirement in required:
        if not requirement.url:
            (pin,) = pins[canonicalize_name(requirement.name)].specifier
            assert pin.version in requirement.specifier
            assert "==" not in str(requirement), "make interop-NAME-newest would not take a newer version"


def test_the_last_version_that_a_module_was_run_with_is_the_pinned_one() -> None:
    modules = ROOT / "gem-interop" / "src" / "gem_interop"
    found = {}
    for path in sorted(modules.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if versions := re.search(
            r'^OLDEST, NEWEST = "[^"]+", "([^"]+)"$.*\bcheck\("([\w-]+)", OLDEST', text, re.MULTILINE | re.DOTALL
        ):
            pins = {
                canonicalize_name(pin.name): pin
                for pin in requirements(FOLDER / f"{path.stem.removesuffix('_routes')}-constraints.txt")
            }
            pinned = pins.get(canonicalize_name(versions[2]))  # slime is installed from its repository
            found[path.stem] = (versions[1], str(pinned.specifier) if pinned else None)

    assert {"trl", "verl", "tinker"} <= set(found)
    assert {name: each for name, each in found.items() if each[1] not in (f"=={each[0]}", None)} == {}


def test_pins_are_of_packages_that_everyone_can_install() -> None:
    command = [str(ROOT / ".ci" / "interop"), "--freeze", sys.prefix]
    pins = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout.splitlines()

    names = {canonicalize_name(Requirement(pin).name) for pin in pins}
    assert {"pytest", "packaging", "torch"} <= names
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.!]+", pin)] == []
    assert [name for name in names if name == "pip" or name.startswith("gem-")] == []
