"""The packages import each other only as ARCHITECTURE.md allows, and the checker finds planted violations."""

from pathlib import Path

import layering
import pytest

ROOT = Path(__file__).parent.parent

HOUSE = {
    "gem-core/src/gem/__init__.py": "",
    "gem-core/src/gem/core.py": "",
    "gem-core/src/gem/packs/registry.py": "from gem import core",
    "gem-core/src/gem/vector/__init__.py": "from gem.vector.engine import VectorEnv",
    "gem-core/src/gem/vector/engine.py": "import gem.core\nclass VectorEnv: ...",
    "gem-core/src/gem/cli/main.py": "import click",
    "gem-sandbox/src/gem_sandbox/__init__.py": "",
    "gem-sandbox/src/gem_sandbox/box.py": "",
    "gem-envs-maze/src/gem_envs_maze/__init__.py": "",
    "gem-envs-maze/src/gem_envs_maze/plugin.py": "import gem",
    "gem-envs-maze/src/gem_envs_maze/small.py": "from gem_envs_maze import walls\nfrom gem.core import Env",
    "gem-envs-maze/src/gem_envs_maze/walls.py": "",
    "gem-train/src/gem_train/__init__.py": "",
    "gem-train/src/gem_train/learner.py": "import torch",
    "gem-train/src/gem_train/plugin.py": "def late():\n    import gem_train.learner",
}
"""A small house without a fault. Each case below plants one."""

MAZE = "gem-envs-maze/src/gem_envs_maze"
CORE = "gem-core/src/gem"


def build(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.full
def test_the_packages_form_a_star_and_their_modules_form_layers() -> None:
    assert layering.violations(ROOT) == []


def test_the_checker_sees_every_package_of_ours() -> None:
    found = layering.packages(ROOT)

    assert {"gem", "gem_envs_games", "gem_train"} <= found.keys()
    assert "gem.packs.registry" in layering.arrows(found["gem"])["gem.vector.make"]


def test_a_house_without_a_fault_has_no_violations(tmp_path: Path) -> None:
    assert layering.violations(build(tmp_path, HOUSE)) == []


@pytest.mark.parametrize(
    "planted",
    [
        "from gem_envs_maze import small",
        "import gem_envs_maze.small",
        "from . import small",
        "from .small import Small",
        "def late():\n    from gem_envs_maze.small import Small",
        "async def late():\n    import gem_envs_maze.small as s",
        "class A:\n    def b(self):\n        def c():\n            from gem_envs_maze import small",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gem_envs_maze.small import Small",
        "try:\n    pass\nexcept ImportError:\n    from gem_envs_maze import small",
        "import importlib\ndef late():\n    return importlib.import_module('gem_envs_maze.small')",
    ],
)
def test_a_circle_is_found_wherever_its_import_hides(tmp_path: Path, planted: str) -> None:
    house = build(tmp_path, HOUSE | {f"{MAZE}/walls.py": planted})

    assert layering.violations(house) == [
        "gem_envs_maze: these modules import each other: gem_envs_maze.small, gem_envs_maze.walls"
    ]


def test_a_circle_of_three_and_a_module_that_imports_itself_are_found(tmp_path: Path) -> None:
    planted = {
        f"{MAZE}/walls.py": "import gem_envs_maze.doors",
        f"{MAZE}/doors.py": "def f():\n    import gem_envs_maze.small",
        f"{MAZE}/mirror.py": "import gem_envs_maze.mirror",
    }

    assert layering.violations(build(tmp_path, HOUSE | planted)) == [
        "gem_envs_maze: these modules import each other: gem_envs_maze.doors, gem_envs_maze.small, gem_envs_maze.walls",
        "gem_envs_maze: these modules import each other: gem_envs_maze.mirror",
    ]


def test_a_name_taken_from_an_init_is_an_arrow_to_it_and_a_module_below_it_is_none(tmp_path: Path) -> None:
    below = build(tmp_path / "below", HOUSE | {f"{CORE}/vector/engine.py": "import gem.vector.worker",
                                               f"{CORE}/vector/worker.py": ""})  # fmt: skip
    name = build(tmp_path / "name", HOUSE | {f"{CORE}/vector/engine.py": "from gem.vector import VectorEnv"})

    assert layering.violations(below) == []
    assert layering.violations(name) == ["gem: these modules import each other: gem.vector, gem.vector.engine"]


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        (f"{MAZE}/small.py", "import gem_train", "gem_envs_maze imports gem_train"),
        (f"{MAZE}/small.py", "def f():\n    from gem_train.learner import X", "gem_envs_maze imports gem_train"),
        (f"{CORE}/core.py", "if TYPE_CHECKING:\n    import gem_envs_maze", "gem imports gem_envs_maze"),
        (f"{CORE}/core.py", "import gem_sandbox", "gem imports gem_sandbox"),
        (f"{MAZE}/small.py", "import gem_sandbox", "gem_envs_maze imports gem_sandbox"),
        ("gem-sandbox/src/gem_sandbox/box.py", "from gem.errors import GemError", "gem_sandbox imports gem"),
        (
            "gem-envs-maze/tests/deep/test_it.py",
            "import gem, torch\nimport gem_train",
            "gem_envs_maze imports gem_train",
        ),
        (f"{MAZE}/small.py", "from torch import nn", "torch is heavy"),
        (f"{CORE}/core.py", "try:\n    import transformers\nexcept ImportError:\n    pass", "transformers is heavy"),
        (f"{CORE}/core.py", "def show():\n    from rich.table import Table", "rich belongs to gem.cli"),
        (f"{CORE}/core.py", "import click", "click belongs to gem.cli"),
    ],
)
def test_an_import_that_leaves_the_star_or_is_heavy_is_found(tmp_path: Path, file: str, text: str, reason: str) -> None:
    house = build(tmp_path, HOUSE | {file: text})

    (violation,) = layering.violations(house)

    assert violation.startswith(f"{file}:")
    assert reason in violation


@pytest.mark.parametrize(
    "planted",
    [
        {"plugin.py": "from gem_train import learner"},
        {"plugin.py": "import gem_train.table", "table.py": "from gem_train.learner import X"},
        {"__init__.py": "from gem_train.learner import Learner"},
    ],
)
def test_a_plugin_module_that_leads_to_something_heavy_is_found(tmp_path: Path, planted: dict[str, str]) -> None:
    house = build(tmp_path, HOUSE | {f"gem-train/src/gem_train/{name}": text for name, text in planted.items()})

    assert layering.violations(house) == ["listing would import torch, through gem_train.learner"]


@pytest.mark.parametrize(
    "text",
    ["def f():\n    import torch", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"],
)
def test_a_heavy_import_that_comes_late_is_fine(tmp_path: Path, text: str) -> None:
    assert layering.violations(build(tmp_path, HOUSE | {f"{MAZE}/small.py": text})) == []


def test_the_two_forbidden_arrows_are_found_even_through_another_module(tmp_path: Path) -> None:
    planted = {
        f"{CORE}/packs/registry.py": "def make_vec():\n    import gem.helper",
        f"{CORE}/helper.py": "from gem.vector.engine import VectorEnv",
        f"{CORE}/core.py": "",
    }
    upwards = {
        f"{CORE}/packs/registry.py": "",
        f"{CORE}/core.py": "def make():\n    from gem.packs.registry import get",
    }

    assert layering.violations(build(tmp_path / "a", HOUSE | planted)) == [
        "the arrow gem.packs.registry → gem.vector.engine must not exist"
    ]
    assert layering.violations(build(tmp_path / "b", HOUSE | upwards)) == [
        "the arrow gem.core → gem.packs.registry must not exist"
    ]
