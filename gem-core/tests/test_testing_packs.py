"""Checking whole packs: what their plugin modules import, `gemx check`, and what a name means."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gem.cli.main import main
from gem.packs import registry
from gem.testing import imports
from gem.testing.checks import CHECKS

PLUGIN = """
import gem
{imported}
GEM_API = 1

@gem.hookimpl
def gem_envs():
    return [
        gem.EnvSpec(id="planted:A-v0", entry_point="planted_envs:Good"),
        gem.EnvSpec(id="planted:B-v0", entry_point="planted_envs:Parts"),
    ]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs a pack of two good envs, with the metadata that pip writes, whose plugin module also says `imported`."""

    def install(imported: str) -> None:
        info = tmp_path / "planted_pack-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted-pack\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[gem.packs]\nplanted = planted_plugin\n")
        (tmp_path / "planted_plugin.py").write_text(PLUGIN.format(imported=imported))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("GEM_PACKS", "planted-pack")
        monkeypatch.setattr(registry, "_registry", registry.Registry())
        monkeypatch.delitem(sys.modules, "planted_plugin", raising=False)
        imports._loaded_by.cache_clear()

    return install


def gemx_check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["check", *arguments])


def states(done: Result) -> dict[str, dict[str, str]]:
    """Id → check → state, of what `gemx check --json` printed."""
    envs = json.loads(done.stdout)["envs"]
    return {env["id"]: {check["check"]: check["state"] for check in env["checks"]} for env in envs}


@pytest.mark.parametrize("name", ["planted-pack", "planted"])
def test_a_pack_that_keeps_the_contract_passes_every_check(install: Any, name: str) -> None:
    install("")
    done = gemx_check(name, "--json")

    assert done.exit_code == 0
    assert json.loads(done.stdout)["ok"] is True
    assert states(done) == {
        "planted:A-v0": dict.fromkeys(CHECKS, "passed"),
        "planted:B-v0": dict.fromkeys(CHECKS, "passed") | {"expert": "skipped"},
    }


@pytest.mark.parametrize(
    ("imported", "message"),
    [
        ("import planted_envs", "imports planted_envs, a module with an environment"),
        ("import rich.table", "imports rich, a heavy library"),
    ],
)
def test_a_plugin_module_that_imports_too_much_fails_the_check_of_imports_and_no_other(
    install: Any, imported: str, message: str
) -> None:
    install(imported)
    done = gemx_check("planted:A-v0", "--json")
    failed = [check for check in json.loads(done.stdout)["envs"][0]["checks"] if check["state"] == "failed"]

    assert done.exit_code == 1
    assert [check["check"] for check in failed] == ["imports"]
    assert message in failed[0]["what"]
    assert "entry points are strings" in failed[0]["fix"]


@pytest.mark.usefixtures("core_only")
def test_each_check_of_an_env_that_fails_is_a_line_with_what_happened_and_how_to_fix_it() -> None:
    done = gemx_check("planted_envs:NanReward", "--episodes", "1")
    lines = done.stdout.splitlines()
    failed = lines.index(next(line for line in lines if line.startswith("  FAIL")))

    assert done.exit_code == 1
    assert lines[0] == "FAIL  planted_envs:NanReward  16 of 18 checks passed"
    assert [line.split()[1] for line in lines if line[:6] in ("  pass", "  FAIL", "  skip")] == list(CHECKS)
    assert "gives the reward nan" in lines[failed + 1]
    assert "A reward is a finite number" in lines[failed + 2]
    assert lines[-1] == "1 environment: 16 passed, 1 failed, 1 skipped"


@pytest.mark.usefixtures("core_only")
def test_checks_that_fail_for_one_reason_are_one_line() -> None:
    done = gemx_check("planted_envs:Gold", "--episodes", "1")

    assert done.exit_code == 1
    assert done.stdout.count("planted_envs has no 'Gold'. Did you mean 'Good'?") == 2  # here, and where it is spawned
    [failed] = (line for line in done.stdout.splitlines() if line.startswith("  FAIL  types, endings, "))
    assert "junk, expert, leaks" in failed


@pytest.mark.usefixtures("core_only")
def test_an_env_that_passes_is_one_line() -> None:
    done = gemx_check("planted_envs:Good", "--episodes", "1")

    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].startswith("pass  planted_envs:Good  1")
    assert done.stdout.splitlines()[1:] == [done.stdout.splitlines()[-1]]


@pytest.mark.full
@pytest.mark.usefixtures("core_only")
def test_debug_shows_the_traceback_of_an_env_that_raises() -> None:
    fragile = ["check", "sample_envs:Fragile", "--episodes", "1"]

    assert "Traceback" not in CliRunner().invoke(main, fragile).stderr
    assert "OSError: the disk is full" in CliRunner().invoke(main, ["--debug", *fragile]).stderr


@pytest.mark.usefixtures("core_only")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gem-tools", "gem-tools is not installed: pip install ./gem-sandbox ./gem-tools in a clone"),
        ("tools", "gem-tools is not installed: pip install ./gem-sandbox ./gem-tools in a clone"),
        ("eval", "gem-envs-qa is not installed: pip install ./gem-envs-qa in a clone"),
        ("gem-cor", "no installed pack is called 'gem-cor', and it is not an id. Did you mean 'gem-core'"),
        ("core:Ecko-v0", "Did you mean 'core:Echo-v0'?"),
    ],
)
def test_a_name_that_stands_for_nothing_is_one_clear_line(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_registry", registry.Registry(registry.registry().packs[:1]))
    done = gemx_check(name)

    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_pack_that_is_disabled_or_broken_says_why(install: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    install("import no_such_module_here")
    broken = gemx_check("planted").stderr
    monkeypatch.setenv("GEM_DISABLE_PACKS", "planted")
    monkeypatch.setattr(registry, "_registry", registry.Registry())
    disabled = gemx_check("planted-pack").stderr

    assert "the pack planted-pack is failed (importing planted_plugin raised ModuleNotFoundError" in broken
    assert "the pack planted-pack is disabled (named in GEM_DISABLE_PACKS)" in disabled


def test_a_pack_without_environments_says_so(install: Any, tmp_path: Path) -> None:
    install("")
    (tmp_path / "planted_plugin.py").write_text("GEM_API = 1\n")

    assert "'planted' registers no environments" in gemx_check("planted").stderr
