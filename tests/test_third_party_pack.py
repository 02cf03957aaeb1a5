"""A pack of somebody else, made by `gemx new` and changed: tested by its wheel, as its author and its users would."""

import shutil
from pathlib import Path

import pytest
from scratch import Scratch, build_wheels

from gem.templates import new_pack

ROOT = Path(__file__).parent.parent
PACK = ROOT / "examples" / "gem-envs-sql"


def test_the_pack_has_every_file_that_the_template_makes_and_a_small_env(tmp_path: Path) -> None:
    made = new_pack("env-pack", {"title": "SQL", "kind": "tools", "licence": "MIT"}, tmp_path)
    files = [path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()]
    lines = [
        path.read_text("utf-8").count("\n") for path in (*PACK.glob("src/*/shop.py"), *PACK.glob("tests/test_shop.py"))
    ]

    assert [name for name in files if not (PACK / name.replace("storeroom", "shop")).is_file()] == []
    assert len(lines) == 2
    assert sum(lines) <= 250


@pytest.mark.full
def test_the_pack_works_for_who_installs_its_wheel(tmp_path: Path) -> None:
    env = Scratch(tmp_path / "env", "pytest")
    env.install(*build_wheels([ROOT / "gem-core", ROOT / "gem-eval", PACK], tmp_path / "wheels"))

    copy = shutil.copytree(PACK, tmp_path / "pack")  # out of reach of this repository's settings of pytest
    tested = env.pytest(copy / "tests")
    assert tested.returncode == 0, tested.stdout
    assert "skipped" not in tested.stdout
    assert env.gemx("check", "gem-envs-sql").returncode == 0
    assert env.gemx("doctor").returncode == 0
    assert {each["pack"] for each in env.gemx_json("list", "sql")["envs"]} == {"gem-envs-sql"}
    floors = {
        model: env.gemx_json("eval", "sql:Shop-v0", "--model", model, "--episodes", "40", "--out", model)
        for model in ("random", "expert")
    }
    assert floors["expert"]["success"] == 1.0
    assert floors["random"]["success"] < 0.2
    again = env.gemx("reproduce", "random")
    assert again.returncode == 0
    assert "40 of 40 episodes came out the same" in again.stdout
