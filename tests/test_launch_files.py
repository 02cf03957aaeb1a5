"""The launch files of frameworks, without the frameworks: they are short, and a setting is the same in all of them.

What runs them is in gem-interop/tests, in the environment of each framework.
"""

import ast
import re
import runpy
import sys
import typing
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from gem_interop import versions
from gem_interop.launching import SETTINGS, arguments, check_model

FILES = sorted((Path(__file__).parents[1] / "examples" / "frameworks").glob("*.py"))
LAUNCHES = [
    file for file in FILES if file.name != "tinker_skyrl_server.py"
]  # whose settings are those of SkyRL's server


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_launch_file_has_at_most_eighty_lines_and_imports_of_gem_what_there_is(file):
    text = file.read_text()
    assert len(text.splitlines()) <= 80
    for node in ast.walk(ast.parse(text)):
        name = getattr(node, "module", None) or ""
        # A framework's own module needs the framework.
        if name.split(".")[0] == "gem" or name.removeprefix("gem_interop.") in ("launching", "playing", "versions"):
            assert all(hasattr(import_module(name), each.name) for each in node.names)


@pytest.mark.parametrize("file", LAUNCHES, ids=lambda file: file.name)
def test_a_launch_file_takes_shared_settings_as_the_others_do(file):
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    named = [getattr(call.func, "id", getattr(call.func, "attr", None)) for call in calls]
    assert named.count("arguments") == 1
    assert "ArgumentParser" not in named
    own = [call.args[0].value for call, name in zip(calls, named, strict=True) if name == "add_argument"]
    assert not {name.removeprefix("--").replace("-", "_") for name in own} & set(SETTINGS)


@pytest.fixture
def without_frameworks(monkeypatch, tmp_path):
    """None is there, whatever is installed. Runs a launch file in this process, in an empty folder."""

    def missing(package):
        raise PackageNotFoundError(package)

    def run(file, *given):
        monkeypatch.setattr(sys, "argv", [str(file), *given])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(file), run_name="__main__")
        assert list(tmp_path.iterdir()) == []
        return end.value.code

    monkeypatch.setattr(versions, "version", missing)
    for module in [name for name in sys.modules if name.startswith(("gem_interop.", "gem_verifiers"))]:
        if hasattr(sys.modules[module], "NEWEST") or module == "gem_verifiers":
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(typing, "TypedDict", typing.TypedDict)  # which one of them replaces
    monkeypatch.chdir(tmp_path)
    return run


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_launch_file_without_its_framework_says_in_one_line_what_to_install(file, without_frameworks):
    named = {
        "agent_lightning_dev.py": ["http://localhost", "m"],
        "verifiers_eval.py": ["m", "--url", "http://localhost"],
    }
    said = without_frameworks(file, *named.get(file.name, ["m"]))
    page = r"what it needs besides is in docs/frameworks/[\w-]+\.md"
    assert re.fullmatch(rf"{file.name}: \S+ is not installed: pip install \S+; {page}", said)


@pytest.mark.parametrize("file", LAUNCHES, ids=lambda file: file.name)
def test_the_help_of_a_launch_file_needs_no_framework(file, without_frameworks, capsys):
    assert without_frameworks(file, "--help") == 0
    assert {"--env", "--seed"} <= set(re.findall(r"^  (--\w+)", capsys.readouterr().out, re.MULTILINE))


def test_tinkers_launch_file_resumes_the_run_of_a_folder_only_if_asked(without_frameworks, tmp_path_factory, capsys):
    [file] = [file for file in FILES if file.name == "tinker_rl.py"]
    out = tmp_path_factory.mktemp("run")
    (out / "metrics.jsonl").touch()
    assert without_frameworks(file, "m", "--out", str(out)) == 2
    assert f"a run is in {out} already: give another --out, or --resume it" in capsys.readouterr().err
    assert "tinker-cookbook is not installed" in without_frameworks(file, "m", "--out", str(out), "--resume")


def test_ids_are_given_one_by_one_in_place_of_the_default_and_a_file_may_have_defaults_of_its_own():
    parser = arguments("Plays.", "steps", group=1, out="here")
    plain = parser.parse_args([])
    assert (plain.env, plain.seed, plain.steps) == (["game:GuessTheNumber-v0-easy"], 0, SETTINGS["steps"]["default"])
    assert (plain.group, plain.out) == (1, Path("here"))
    two = ["core:Echo-v0", "game:Wordle-v0"]
    assert parser.parse_args(["--env", two[0], "--env", two[1]]).env == two
    assert parser.parse_args(["--env", two[1]]).env == two[1:]
    assert "default: game:GuessTheNumber-v0-easy" in " ".join(parser.format_help().split())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--env", "game:Wordl-v0"], "argument --env: no installed pack provides 'game:Wordl-v0'. Did you mean"),
        (["--steps", "0"], "argument --steps: 0 is not at least 1"),
        (["--groups", "many"], "argument --groups: invalid count value: 'many'"),
        (["--step", "3"], "unrecognized arguments: --step 3"),
        (["--score", "reward"], "argument --score: invalid choice: 'reward'"),
        (["--group", "1"], "argument --group: an episode is compared with others of its group: at least 2"),
        (["--lr", "-0.1"], "argument --lr: -0.1 is not a number above 0"),
        (["--lr", "nan"], "argument --lr: nan is not a number above 0"),
        (["--seed", "-1"], "argument --seed: -1 is not from 0 to 2**32 - 1"),
        (["--out", __file__], "test_launch_files.py is a file, and not a folder"),
    ],
)
def test_a_mistake_in_a_setting_is_named_before_a_framework_starts(given, said, capsys):
    with pytest.raises(SystemExit):
        arguments("Plays.", "steps", "groups", "group", "score", "lr", "out").parse_args(given)
    assert said in capsys.readouterr().err


def test_where_nothing_is_learned_a_group_may_be_one_episode():
    assert arguments("Plays.", "starts", "group").parse_args(["--group", "1"]).group == 1


@pytest.mark.full  # it imports transformers
def test_a_model_is_a_folder_with_its_configuration_or_a_name_on_the_hub(tmp_path):
    with pytest.raises(SystemExit, match=r"not a folder with a model: it has no config\.json"):
        check_model(str(tmp_path))
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "base"}')
    check_model(str(tmp_path))
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    check_model(str(tmp_path))
    with pytest.raises(SystemExit, match="no-such is not a folder, nor found on the Hugging Face hub: Repo id must"):
        check_model("./no-such")


def test_an_env_in_the_folder_where_a_launch_file_is_started_is_found(tmp_path, monkeypatch):
    (tmp_path / "env_of_a_user.py").write_text("from gem.packs.echo import Echo\n")
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    assert arguments("Plays.").parse_args(["--env", "env_of_a_user:Echo"]).env == ["env_of_a_user:Echo"]
