"""The launch files of frameworks, without the frameworks: they are short, and a setting is the same in all of them.

What runs them is in gem-interop/tests, in the environment of each framework.
"""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from gem_interop.launching import SETTINGS, arguments

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
        if name.split(".")[0] == "gem" or name in ("gem_interop.launching", "gem_interop.playing"):
            assert all(hasattr(import_module(name), each.name) for each in node.names)


@pytest.mark.parametrize("file", LAUNCHES, ids=lambda file: file.name)
def test_a_launch_file_takes_shared_settings_as_the_others_do(file):
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    named = [getattr(call.func, "id", getattr(call.func, "attr", None)) for call in calls]
    assert named.count("arguments") == 1
    assert "ArgumentParser" not in named
    own = [call.args[0].value for call, name in zip(calls, named, strict=True) if name == "add_argument"]
    assert not {name.removeprefix("--").replace("-", "_") for name in own} & set(SETTINGS)


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
    ],
)
def test_a_mistake_in_a_setting_is_named_before_a_framework_starts(given, said, capsys):
    with pytest.raises(SystemExit):
        arguments("Plays.", "steps", "groups", "score").parse_args(given)
    assert said in capsys.readouterr().err
