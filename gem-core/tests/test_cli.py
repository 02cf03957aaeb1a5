"""`gemx`: what its commands print, and what they exit with."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tool_samples
from click.testing import CliRunner, Result

import gem
from gem.cli.main import main
from gem.cli.options import parse_arguments, parse_wrappers
from gem.errors import ConfigError
from gem.packs import registry
from gem.packs.discovery import Pack
from gem.tool import find_format

pytestmark = pytest.mark.usefixtures("core_only")

TESTS = Path(__file__).parent


def gemx(*arguments: str, input: str = "") -> Result:
    return CliRunner().invoke(main, list(arguments), input=input)


def gemx_json(*arguments: str) -> dict[str, Any]:
    """What a fresh process prints on standard output, which has to be one JSON object and nothing else."""
    clean = {name: value for name, value in os.environ.items() if name != "GEM_DEBUG"}
    command = [sys.executable, "-m", "gem", *arguments, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, cwd=TESTS, env=clean).stdout)


def test_without_a_command_the_help_lists_the_commands() -> None:
    bare, asked = gemx(), gemx("--help")

    assert bare.exit_code == asked.exit_code == 0
    assert bare.stdout == asked.stdout
    for name in ("list", "info", "play", "check", "doctor"):
        assert f"\n  {name} " in bare.stdout
        assert gemx(name, "--help").exit_code == 0


def test_the_version_is_that_of_the_package() -> None:
    assert gemx("--version").stdout == f"gemx {gem.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lst"], "there is no command 'lst'. Did you mean 'list'?"),
        (["train", "core:Echo-v0"], "'train' is a command of gem-train"),
        (["eval", "core:Echo-v0"], "'eval' is a command of gem-eval"),
        (["info", "core:Ecko-v0"], "Did you mean 'core:Echo-v0'?"),
        (
            ["info", "quiz:Trivia"],
            "no installed pack provides 'quiz:Trivia'. Nor was a module 'quiz' found",
        ),
        (["info", "Echo"], "is not an environment id"),
        (["info", "Echo-v0"], "or 'math:Arithmetic-v0'. Did you mean 'core:Echo-v0'?"),
        (["play", "core:Echo-v0", "--arg", "size=3"], "takes no argument 'size'"),
        (["play", "sample_envs:Sum", "--arg", "max_turns=0"], "max_turns must be an integer >= 1, not 0"),
    ],
)
def test_an_error_is_one_clear_line_and_exits_with_1(arguments: list[str], message: str) -> None:
    done = gemx(*arguments)

    assert done.exit_code == 1
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("gemx: ")
    assert len(done.stderr.splitlines()) == 1


def test_debug_shows_the_traceback_of_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = gemx("--debug", "info", "core:Ecko-v0")
    monkeypatch.setenv("GEM_DEBUG", "1")
    for done in (asked, gemx("info", "core:Ecko-v0")):
        assert done.exit_code == 1
        assert done.stderr.startswith("Traceback")
        assert "gem.errors.UnknownId: " in done.stderr


@pytest.mark.parametrize("seed", ["-1", "9223372036854775808", "x"])
def test_a_seed_that_is_none_is_refused(seed: str) -> None:
    assert gemx("play", "core:Echo-v0", "--seed", seed).exit_code == 2


def test_ctrl_c_is_quiet_and_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: registry.Registry, namespace: str | None = None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry.Registry, "entries", interrupted)
    done = gemx("list")

    assert (done.exit_code, done.output) == (130, "")


def test_list_prints_every_env_with_its_pack() -> None:
    done = gemx("list")

    assert f"gem-core {gem.__version__}" in done.stdout
    assert "core:Echo-v0" in done.stdout
    assert "smoke-test" in done.stdout


def test_list_as_json_has_exactly_the_promised_fields() -> None:
    echo = gem.get_spec("core:Echo-v0")

    assert gemx_json("list") == {
        "envs": [
            {
                "id": "core:Echo-v0",
                "pack": "gem-core",
                "version": gem.__version__,
                "description": echo.description,
                "tags": ["single-turn", "smoke-test"],
                "lacks": "",
            }
        ],
        "sources": [],
    }


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["core"], 1),
        (["echo"], 1),
        (["core:*-v0"], 1),
        (["a Word BACK"], 1),
        (["*-v1"], 0),
        (["game"], 0),
        (["--pack", "gem-core"], 1),
        (["--pack", "gem-envs-games"], 0),
        (["--tag", "smoke-test"], 1),
        (["--tag", "smoke-test", "--tag", "single-turn"], 1),
        (["--tag", "smoke-test", "--tag", "game"], 0),
    ],
)
def test_list_keeps_what_matches(arguments: list[str], found: int) -> None:
    done = gemx("list", *arguments, "--json")

    assert done.exit_code == 0
    assert len(json.loads(done.stdout)["envs"]) == found


def test_list_names_the_pack_that_would_provide_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", registry.Registry(registry.registry().packs[:1]))

    assert "gem-envs-games is not installed: pip install ./gem-envs-games in a clone" in gemx("list", "game").stderr
    shared = gemx("list", "eval").stderr.splitlines()[1:]
    assert [line.split()[0] for line in shared] == ["gem-envs-math", "gem-envs-code", "gem-envs-qa"]


def test_info_shows_the_arguments_the_rules_and_the_first_observation() -> None:
    gem.register("lab:Sum-v0", "sample_envs:Sum", rounds=5, max_turns=7)
    done = gemx("info", "lab:Sum-v0")

    assert done.exit_code == 0
    for text in ("sample_envs:Sum", "rounds=5", "Each right sum earns 1", "The next number is 7."):
        assert text in done.stdout


def test_info_describes_an_environment_that_cannot_be_made_without_an_argument() -> None:
    gem.register("lab:Needs-v0", "sample_envs:Needs")
    done = gemx("info", "lab:Needs-v0")

    assert done.exit_code == 0
    for text in ("An env on rows of yours.", "'lab:Needs-v0' needs the argument 'data'."):
        assert text in done.stdout
    assert gemx("info", "lab:Needs-v0", "--arg", "rows=3").exit_code == 1


def test_info_refuses_a_spec_that_no_argument_can_correct() -> None:
    gem.register("lab:Bad-v0", "gem.packs.echo:Echo", nope=3)
    done = gemx("info", "lab:Bad-v0")

    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "gemx: 'lab:Bad-v0' takes no argument 'nope'. It takes: none.\n"


def test_info_as_json_has_the_spec_and_the_observation() -> None:
    described = gemx_json("info", "core:Echo-v0")

    assert described["entry_point"] == "gem.packs.echo:Echo"
    assert described["observation"] == gem.make("core:Echo-v0").reset(seed=0)[0]
    assert described["rules"].startswith("Say a word back.")
    assert (described["pack"], described["version"], described["kwargs"]) == ("gem-core", gem.__version__, {})


def test_doctor_is_content_with_the_core_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", registry.Registry(registry.registry().packs[:1]))
    done = gemx("doctor", "--seconds", "60")
    report = json.loads(gemx("doctor", "--seconds", "60", "--json").stdout)
    packs = {row["pack"]: row for row in report["packs"]}

    assert done.exit_code == 0
    assert report["ok"] is True
    assert (packs["gem-core"]["state"], packs["gem-core"]["envs"], packs["gem-core"]["fix"]) == ("loaded", 1, None)
    assert packs["gem-tools"]["fix"] == "pip install ./gem-sandbox ./gem-tools in a clone of the GEM repository"


FAULTY = """
import gem
GEM_API = 1

@gem.hookimpl
def gem_envs():
    names = {"A": "no_such_module:A", "B": "sample_envs:Summ", "C": "sample_envs:boxed", "D": "sample_envs:Half"}
    names |= {"E": "sample_envs:Sum", "F": "no_such_module:A"}
    return [gem.EnvSpec(id=f"faulty:{name}", entry_point=at) for name, at in names.items()]

@gem.hookimpl
def gem_tools():
    return {"faulty_tool": "tool_samples:RAN", "fine_tool": "tool_samples:now", "odd_tool": "math:pi"}

@gem.hookimpl
def gem_wrappers():
    return {"faulty_wrapper": "sample_envs:Loudly", "fine_wrapper": "sample_envs:Loud"}

@gem.hookimpl
def gem_policies():
    return {"faulty_policy": "math:pi"}

@gem.hookimpl
def gem_commands():
    return [gem.CommandSpec(name="faulty", entry_point="sample_envs:Sum", help="Nothing")]
"""


DIAGNOSED = """
import gem

GEM_API = 1

def well():
    return {"status": "fine", "details": ("two lines", "of details")}

def raising():
    raise OSError("no such device")

@gem.hookimpl
def gem_diagnostics():
    return {"engine": "diagnosed_plugin:well", "device": "diagnosed_plugin:raising"}
"""


def test_doctor_shows_what_packs_say_about_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "diagnosed_plugin.py").write_text(DIAGNOSED)
    monkeypatch.syspath_prepend(tmp_path)
    packs = [Pack(name, "1.0", "diagnosed_plugin", (name,)) for name in ("one", "other")]
    monkeypatch.setattr(registry, "_registry", registry.Registry([*registry.registry().packs[:1], *packs]))

    shown, done = gemx("doctor", "--seconds", "60"), gemx("doctor", "--seconds", "60", "--json")

    assert "Engine: fine\n  two lines\n  of details\n" in shown.stdout
    engine, device = json.loads(done.stdout)["diagnostics"]
    assert engine == {"name": "engine", "status": "fine", "ok": True, "details": ["two lines", "of details"]}
    assert (device["name"], device["ok"]) == ("device", False)
    assert "no such device" in device["details"][0]
    assert done.exit_code == 0


def test_doctor_finds_every_entry_point_that_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty_plugin.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(tmp_path)
    pack = Pack("faulty-pack", "1.0", "faulty_plugin", ("faulty",))
    monkeypatch.setattr(registry, "_registry", registry.Registry([*registry.registry().packs[:1], pack]))

    assert gemx("list", "faulty").exit_code == 0
    assert pack.state == "loaded"
    done = gemx("doctor", "--seconds", "60", "--json")
    (row,) = [row for row in json.loads(done.stdout)["packs"] if row["pack"] == "faulty-pack"]
    assert (done.exit_code, json.loads(done.stdout)["ok"], row["state"]) == (1, False, "faulty")
    assert row["fix"] == "pip install --upgrade faulty-pack"
    assert row["reason"].split("; ") == [
        "faulty:A: 'no_such_module:A' cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",
        "faulty:B: 'sample_envs:Summ': sample_envs has no 'Summ'. Did you mean 'Sum'?",
        "faulty:C: 'sample_envs:boxed' is not an environment: it is not a class that derives from gem.Env",
        "faulty:D: 'sample_envs:Half' cannot be made: its class does not define sample_action, step",
        "the tool 'odd_tool': 'math:pi' is float 3.141592653589793, which is not a tool",
        "the wrapper 'faulty_wrapper': 'sample_envs:Loudly': sample_envs has no 'Loudly'. Did you mean 'Loud'?",
        "the policy 'faulty_policy': 'math:pi' is float 3.141592653589793, which is not callable",
        "the command 'faulty': 'sample_envs:Sum' is ABCMeta <class 'sample_envs.Sum'>, which is not a click command",
    ]
    assert "faulty-pack: faulty:A: 'no_such_module:A' cannot be imported" in gemx("doctor", "--seconds", "60").stdout


def test_tools_and_wrappers_with_settings_are_json() -> None:
    tools = '[{"name": "tool_samples:greeter", "word": "hi"}, "tool_samples:now"]'
    wrapper = '{"name": "gem.wrappers:TurnLimit", "max_turns": 1}'

    assert parse_wrappers(wrapper, tools, ["format=hermes"]) == [
        {
            "name": "tool_env",
            "tools": [{"name": "tool_samples:greeter", "word": "hi"}, "tool_samples:now"],
            "format": "hermes",
        },
        {"name": "gem.wrappers:TurnLimit", "max_turns": 1},
    ]
    assert gemx("play", "sample_envs:Sum", "--tools", tools, "--wrappers", wrapper).exit_code == 0


def test_where_no_pack_has_tools_the_list_says_which_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registry", registry.Registry(registry.registry().packs[:1]))
    done = gemx("tools")

    assert done.stdout == ""
    assert done.stderr == (
        "No installed pack has tools; gem-tools has some: "
        "pip install ./gem-sandbox ./gem-tools in a clone of the GEM repository\n"
    )


def test_an_option_of_another_command_is_named_with_it() -> None:
    done = gemx("list", "--record", "x")

    assert done.exit_code == 2
    assert "No such option '--record'. `gemx play` has it." in done.stderr
    assert "has it" not in gemx("list", "--no-such-thing").stderr


def test_tools_shows_what_an_agent_sees() -> None:
    description = find_format("fenced").describe({"search": tool_samples.search})
    assert gemx("tools", "tool_samples:search", "--format", "fenced").stdout == f"{description}\n"
    listing = gemx("tools", '["tool_samples:search", {"name": "tool_samples:greeter", "word": "hi"}]').stdout
    assert "Look something up." in listing
    assert listing.endswith("\nSettings of tool_samples:greeter: word='hello'\n")
    (described,) = gemx_json("tools", "tool_samples:search")["tools"]
    assert (described["name"], described["parameters"]["required"]) == ("search", ["query"])
    assert gemx_json("tools") == {"tools": []}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ('"3"', "3"),
        ("[1, 2]", [1, 2]),
        ('{"a": 1}', {"a": 1}),
        ("fast", "fast"),
        ("a=b", "a=b"),
        ("", ""),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_an_argument_is_read_as_json_or_is_a_string(text: str, value: object) -> None:
    parsed = parse_arguments([f"key={text}"])["key"]

    assert parsed == value
    assert type(parsed) is type(value)


def test_a_class_in_the_folder_one_is_in_can_be_run(tmp_path: Path) -> None:
    (tmp_path / "my_first_env.py").write_text("from gem.packs.echo import Echo\nclass Mine(Echo): ...\n")
    command = [str(Path(sys.executable).with_name("gemx")), "info", "my_first_env:Mine", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)

    assert json.loads(done.stdout)["entry_point"] == "my_first_env:Mine"


def test_a_command_that_an_installed_pack_is_too_old_for_says_to_upgrade_it(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Pack("gem-train", "0.0.1", "gem_train.plugin", ("train",), state="loaded")
    monkeypatch.setattr(registry, "_registry", registry.Registry([old]))

    assert gemx("train").stderr == (
        "gemx: 'train' is a command of gem-train, but not of the installed version, 0.0.1: "
        "pip install ./gem-eval ./gem-train in a clone of the GEM repository, on a machine without a GPU after PyTorch "
        "for CPUs\n"
    )


def test_a_command_of_a_pack_that_cannot_be_imported_is_one_clear_line(
    core_only: registry.Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    (core,) = core_only.load("core")
    spec = gem.CommandSpec(name="broken", entry_point="no_such_module_here:broken", help="Nothing")
    wrong = gem.CommandSpec(name="wrong", entry_point="sample_envs:Sum", help="Nothing")
    monkeypatch.setattr(core, "commands", [*core.commands, spec, wrong])

    assert "pip install ./gem-core in a clone" in gemx("broken").stderr
    assert "is not a click.Command" in gemx("wrong").stderr


@pytest.mark.parametrize(
    ("wrappers", "tools", "arguments", "message"),
    [
        *(("", "python", [pair], "--tool-arg takes KEY=VALUE") for pair in ("max_calls", "=3", "a-b=3", "")),
        ("", "[python]", [], r"--tools \[python\] is not JSON"),
        ("", "python", ["tools=search"], "not for 'tools'"),
        ('{"max_turns": 2}', "", [], "need a 'name'"),
        ("[3]", "", [], "is neither a name nor"),
        ('concat,{"name": "x"}', "", [], "--wrappers takes names"),
    ],
)
def test_wrong_tools_and_wrappers_are_refused(wrappers: str, tools: str, arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_wrappers(wrappers, tools, arguments)
