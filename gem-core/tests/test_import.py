"""Importing `gem` does nothing."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import gem

HEAVY = ("torch", "transformers", "datasets", "ray", "vllm", "click", "rich", "cookiecutter")


def modules_after(program: str) -> set[str]:
    command = [sys.executable, "-c", f"{program}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"]
    return set(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


@pytest.mark.parametrize("program", ["import gem", "from gem import *", "import gem\ngem.make('core:Echo-v0').reset()"])
def test_importing_and_making_load_no_other_pack_and_nothing_heavy(program: str) -> None:
    loaded = modules_after(program)

    assert not loaded.intersection(HEAVY)
    assert not {name for name in loaded if name.startswith(("gem_", "gem.cli"))}


def test_importing_gem_alone_loads_none_of_its_modules() -> None:
    assert {name for name in modules_after("import gem") if name.split(".")[0] == "gem"} == {"gem"}


@pytest.mark.parametrize("name", gem.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(gem, name) is not None
    assert name in dir(gem)


def test_the_public_names_are_the_same_for_python_and_for_a_type_checker() -> None:
    tree = ast.parse(Path(gem.__file__).read_text("utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {
        (node.module, alias.name) for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    lazy = {("gem", name) for name in gem._SUBMODULES} | {(module, name) for name, module in gem._MODULE_OF.items()}

    assert typed == lazy
    assert sorted(gem.__all__) == sorted(["__version__", *(name for _, name in lazy)])


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = gem.nonsense  # pyright: ignore[reportAttributeAccessIssue]
