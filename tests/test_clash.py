"""gem-llm beside gem-core in one environment: both install the folder `gem`."""

from pathlib import Path

import pytest
from scratch import Scratch, build_wheels

ROOT = Path(__file__).parent.parent
GEM_LLM = "gem-llm==0.1.0"


@pytest.mark.full  # gem-llm itself, from the index
def test_gemx_names_the_clash_with_gem_llm_in_every_order_and_its_advice_works(tmp_path: Path) -> None:
    [wheel] = build_wheels([ROOT / "gem-core"], tmp_path / "wheels")
    env = Scratch(tmp_path / "env", "hatchling", "editables")
    env.install(wheel)
    assert env.gemx("doctor").returncode == 0

    env.pip("install", "--no-deps", GEM_LLM)  # last: gem/__init__.py and gem/core.py are gem-llm's
    done = env.gemx("list")
    assert done.returncode == 1
    assert "gem-core and gem-llm install the same folder" in done.stderr
    assert "pip uninstall gem-llm, then pip install --force-reinstall --no-deps ./gem-core" in done.stderr
    assert "Traceback" not in done.stderr

    reinstall = ("install", "--no-index", "--no-deps", "--force-reinstall", str(wheel))
    env.pip(*reinstall)  # gem-core last: it works, but not gem-llm
    [core] = [row for row in env.gemx_json("doctor")["packs"] if row["pack"] == "gem-core"]
    assert core["state"] == "faulty"
    assert core["fix"].startswith("pip uninstall gem-llm, then pip install --force-reinstall --no-deps ./gem-core")
    assert env.gemx("doctor").returncode == 1

    env.pip("uninstall", "--yes", "gem-llm")  # takes the shared files with it
    env.pip(*reinstall)
    assert env.gemx("doctor").returncode == 0

    env.pip("uninstall", "--yes", "gem-core")
    env.pip("install", "--no-index", "--no-deps", "--no-build-isolation", "--editable", str(ROOT / "gem-core"))
    assert env.gemx("doctor").returncode == 0
    env.pip("install", "--no-deps", GEM_LLM)
    done = env.gemx("list")
    assert done.returncode == 1
    assert "pip uninstall gem-llm" in done.stderr
    env.pip("uninstall", "--yes", "gem-llm")
    assert env.gemx("doctor").returncode == 0
