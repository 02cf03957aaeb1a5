"""Wheels and scratch environments: packs installed for real, without a network.

A scratch environment is a fresh virtual environment with links to what gem-core depends on, and nothing else: no
pack of ours, and none that happens to be installed where the tests run.
"""

import fcntl
import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = {path.parent.name for path in Path(__file__).parent.parent.glob("gem-*/pyproject.toml")}
"""The packages of this repository, which are installed from their wheels and never linked."""

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


BUILD = """
import importlib, os, sys, tomllib
folder, *projects = sys.argv[1:]
for project in projects:
    os.chdir(project)
    with open("pyproject.toml", "rb") as file:
        backend = tomllib.load(file)["build-system"]["build-backend"]
    importlib.import_module(backend).build_wheel(folder)
"""


def build_wheels(projects: Iterable[Path], folder: Path) -> list[Path]:
    """The wheels of some projects: their backends do what pip asks them for, without three processes for each."""
    folder.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-c", BUILD, *(str(path.resolve()) for path in (folder, *projects))])
    return sorted(folder.glob("*.whl"))


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A temporary folder that one of the parallel workers of this run fills with `make`, while the others wait."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            make(folder)
            (folder / "made").touch()
    return folder


class Scratch:
    """A virtual environment in `folder`, made if it is not there yet, with links to some `others` as well."""

    def __init__(self, folder: Path, *others: str) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        if self.python.exists():
            return
        venv.create(folder, with_pip=False, symlinks=True)
        for name in set(others).union(*map(_needed_by, ("gem-core", *others))) - OURS:
            _link(name, self.site_packages)

    @property
    def site_packages(self) -> Path:
        """The folder of what is installed."""
        [found] = (self.folder / "lib").glob("python*/site-packages")
        return found

    def install(self, *wheels: Path) -> None:
        """Install wheels, and nothing that they ask for."""
        self.pip("install", "--no-index", "--no-deps", "--no-compile", *map(str, wheels))

    def pip(self, *arguments: str) -> None:
        """Run the pip of the tests on this environment."""
        _run([*PIP, "--python", str(self.python), *arguments])

    def gemx(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the installed command, with some environment variables set."""
        return self._call(str(self.folder / "bin" / "gemx"), *arguments, **variables)

    def gemx_json(self, *arguments: str, **variables: str) -> dict[str, Any]:
        """What a command prints with `--json`."""
        return json.loads(self.gemx(*arguments, "--json", **variables).stdout)

    def run(self, program: str) -> str:
        """What a Python program prints."""
        done = self._call(str(self.python), "-c", program)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pytest(self, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run the tests in a folder."""
        return self._call(str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder))

    def _call(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        inherited = ("GEM_", "PYTHON", "PYTEST_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(inherited)}
        return subprocess.run(
            command, env=clean | variables, cwd=self.folder, capture_output=True, text=True, check=False
        )


def _needed_by(distribution: str) -> set[str]:
    """The distributions that this one depends on, directly or not."""
    needed: set[tuple[str, str]] = set()
    waiting = [(distribution, "")]
    while waiting:
        name, extra = waiting.pop()
        for text in metadata.requires(name) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                of = canonicalize_name(requirement.name)
                new = {(of, ""), *((of, each) for each in requirement.extras)} - needed
                needed |= new
                waiting += new
    return {name for name, _ in needed}


def _link(distribution: str, site_packages: Path) -> None:
    """Put links to an installed distribution's files into another environment."""
    found = metadata.distribution(distribution)
    tops = {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        (site_packages / top).symlink_to(Path(str(found.locate_file(top))).resolve())


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
