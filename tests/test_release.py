"""What a release consists of: versions in step, files that `make dist` checks, and the workflows that run it."""

import importlib.util
import io
import re
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import gem

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(path.parent.name for path in ROOT.glob("gem-*/pyproject.toml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture(scope="module")
def dist() -> ModuleType:
    """The program behind `make dist`."""
    spec = importlib.util.spec_from_file_location("dist", ROOT / ".ci" / "dist.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_package(
    folder: Path,
    package: str,
    *,
    version: str = "0.1.0",
    needs: str = "gem-core<0.2,>=0.1",
    licence: str = "License-File: LICENSE",
    wheel: tuple[str, ...] = ("{name}/py.typed", "{name}-{version}.dist-info/licenses/LICENSE"),
    source: tuple[str, ...] = ("LICENSE", "README.md", "pyproject.toml", "PKG-INFO"),
) -> None:
    """A wheel and a source distribution with what is checked in them, and nothing else."""
    names = {"name": package.replace("-", "_"), "version": version}
    text = f"Metadata-Version: 2.4\nName: {package}\nVersion: {version}\n{licence}\nRequires-Dist: {needs}\n\n# About\n"
    with zipfile.ZipFile(folder / "{name}-{version}-py3-none-any.whl".format(**names), "w") as files:
        files.writestr("{name}-{version}.dist-info/METADATA".format(**names), text)
        for file in wheel:
            files.writestr(file.format(**names), "")
    with tarfile.open(folder / "{name}-{version}.tar.gz".format(**names), "w:gz") as archive:
        for file in source:
            archive.addfile(tarfile.TarInfo("{name}-{version}/".format(**names) + file), io.BytesIO())


def test_files_that_are_in_step_pass(dist: ModuleType, tmp_path: Path) -> None:
    for package in PACKAGES:
        write_package(tmp_path, package)

    assert dist.check_in_step(tmp_path) == "0.1.0"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"version": "0.1.1"}, "the versions differ: .*'gem-tools': '0.1.1'"),
        ({"needs": "gem-core>=0.2"}, "gem-tools needs gem-core>=0.2, and this is 0.1.0"),
        ({"licence": "License: Apache-2.0"}, "gem_tools-0.1.0-py3-none-any.whl has no LICENSE"),
        ({"wheel": ("{name}/py.typed",)}, "gem_tools-0.1.0-py3-none-any.whl lacks one of"),
        ({"wheel": ("{name}-{version}.dist-info/licenses/LICENSE",)}, "has no py.typed"),
        ({"source": ("LICENSE", "README.md", "PKG-INFO")}, "gem_tools-0.1.0.tar.gz lacks a file"),
        (None, "gem-tools has the wheels"),
    ],
)
def test_a_file_that_is_out_of_step_ends_it(
    dist: ModuleType, tmp_path: Path, change: dict[str, Any] | None, fault: str
) -> None:
    for package in PACKAGES:
        write_package(tmp_path, package, **(change or {}) if package == "gem-tools" else {})
    if change is None:
        write_package(tmp_path, "gem-tools", version="0.0.9")

    with pytest.raises(SystemExit, match=fault):
        dist.check_in_step(tmp_path)


def test_every_requirement_on_one_of_the_packages_accepts_the_version_that_all_have() -> None:
    """Those of the templates, of the examples and of the guides, too: they are what a new pack begins with."""
    found = {
        re.findall(r'^__version__ = "(.+)"$', path.read_text("utf-8"), re.MULTILINE)[0]
        for path in ROOT.glob("gem-*/src/*/__init__.py")
    }
    assert found == {gem.__version__}

    paths = [*ROOT.glob("gem-*/pyproject.toml"), *ROOT.glob("examples/*/pyproject.toml"), *ROOT.glob("docs/*.md")]
    paths += ROOT.glob("gem-core/src/gem/templates/*-pack/*/pyproject.toml")
    needs = [
        Requirement(text)
        for path in paths
        for text in re.findall(rf'"((?:{"|".join(PACKAGES)})[<>=~][^"]*)"', path.read_text("utf-8"))
    ]
    assert len(needs) > len(PACKAGES)
    assert [str(need) for need in needs if not need.specifier.contains(gem.__version__)] == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_calls_what_the_makefile_has(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text("utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    targets = [word for step in steps for word in re.findall(r"^make (\S+)$", step.get("run", ""), re.MULTILINE)]

    assert targets
    assert [target for target in targets if f"\n{target}: " not in (ROOT / "Makefile").read_text("utf-8")] == []


def test_only_the_job_that_publishes_may_ask_the_index_for_trust() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]

    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "build": {"contents": "read"},
        "publish": {"id-token": "write"},
    }
    assert jobs["publish"]["environment"] == "pypi"
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]
