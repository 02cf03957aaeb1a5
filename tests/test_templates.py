"""Packs made by `gemx new`: each is installed from its wheel into an empty environment, and works at once."""

import itertools
import json
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from scratch import Scratch, build_wheels, made_once

from gem.errors import ConfigError
from gem.templates import FOLDER, choices, new_pack

ROOT = Path(__file__).parent.parent

IDS = {"game": "fresh:Lamps-v0-easy", "questions": "fresh:Opposites", "tools": "fresh:Storeroom-v0-easy"}
"""Kind → an id of the pack."""

MADE = {
    "game": {"kind": "game", "licence": "MIT", "ci": "github"},
    "questions": {"kind": "questions", "licence": "Apache-2.0", "ci": "none"},
    "tools": {"kind": "tools", "licence": "none", "ci": "github"},
}
"""Settings in which every choice occurs."""

TRAIN = ("steps=2", "warmup.steps=20", "eval.episodes=8", "rollout.episodes=16", "watch.stop=false")


def made(folder: Path, template: str = "env-pack", **settings: str) -> Path:
    return new_pack(template, {"title": "Fresh", **settings}, folder)


@pytest.fixture(scope="session")
def core_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def build(folder: Path) -> None:
        build_wheels([ROOT / "gem-core"], folder)

    [wheel] = made_once(tmp_path_factory, "core_wheel", build).glob("*.whl")
    return wheel


def installed(folder: Path, core_wheel: Path, template: str, settings: Mapping[str, str]) -> Scratch:
    """Make a pack, install its wheel and that of the core, and run its tests."""
    pack = made(folder, template, **settings)
    env = Scratch(folder / "env", "pytest")
    env.install(core_wheel, *build_wheels([pack], folder / "wheels"))
    tested = env.pytest(pack / "tests")
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
    assert "skipped" not in tested.stdout
    return env


def test_a_game_is_green_at_birth(tmp_path: Path, core_wheel: Path) -> None:
    env = installed(tmp_path, core_wheel, "env-pack", MADE["game"])

    assert [each["id"] for each in env.gemx_json("list", "fresh")["envs"]] == [
        "fresh:Lamps-v0",
        "fresh:Lamps-v0-easy",
        "fresh:Lamps-v0-hard",
    ]
    assert env.gemx_json("eval", "fresh:Lamps-v0", "--model", "expert", "--episodes", "10")["success"] == 1.0


@pytest.mark.full
@pytest.mark.parametrize("kind", ["questions", "tools"])
def test_every_kind_of_environment_is_green_at_birth(tmp_path: Path, core_wheel: Path, kind: str) -> None:
    env = installed(tmp_path, core_wheel, "env-pack", MADE[kind])

    assert env.gemx("check", "fresh").returncode == 0
    assert env.gemx_json("eval", IDS[kind], "--model", "expert", "--episodes", "10")["success"] == 1.0


@pytest.mark.full
def test_a_tool_is_green_at_birth(tmp_path: Path, core_wheel: Path) -> None:
    env = installed(tmp_path, core_wheel, "tool-pack", {})

    assert "Convert a length" in env.gemx("tools", "convert").stdout
    played = env.gemx_json("eval", "core:Echo-v0", "--tools", "convert", "--model", "expert", "--episodes", "4")
    assert played["success"] == 1.0


@pytest.mark.full
@pytest.mark.parametrize("kind", IDS)
def test_every_kind_of_environment_can_be_trained_on(tmp_path: Path, core_wheel: Path, kind: str) -> None:
    pack = made(tmp_path, **MADE[kind])
    env = Scratch(tmp_path / "env", "gem-train")
    env.install(core_wheel, *build_wheels([pack, ROOT / "gem-train"], tmp_path / "wheels"))

    settings = [word for each in TRAIN for word in ("--set", each)]
    trained = env.gemx("train", IDS[kind], "--model", "tiny", "--out", str(tmp_path / "run"), *settings)

    assert trained.returncode == 0, trained.stderr
    assert (tmp_path / "run" / "summary.json").is_file()


def combinations(template: str) -> list[dict[str, str]]:
    names = ("kind", "licence", "ci") if template == "env-pack" else ("licence", "ci")
    return [
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(choices(template, name) for name in names))
    ]


@pytest.mark.parametrize("template", ["env-pack", "tool-pack"])
def test_every_combination_of_choices_makes_files_that_can_be_read(tmp_path: Path, template: str) -> None:
    for number, settings in enumerate(combinations(template)):
        pack = made(tmp_path / str(number), template, author='Ann "the" Author', **settings)
        project = tomllib.loads((pack / "pyproject.toml").read_text("utf-8"))["project"]

        assert project["authors"] == [{"name": 'Ann "the" Author'}]
        assert ("license" in project) == (pack / "LICENSE").exists() == (settings["licence"] != "none")
        assert (pack / ".github").exists() == (settings["ci"] == "github")
        for path in pack.rglob("*"):
            if path.is_file():
                text = path.read_text("utf-8")
                assert "cookiecutter" not in text, path
                assert text == "" or text.endswith("\n"), path
                if path.suffix == ".py":
                    compile(text, str(path), "exec")


@pytest.mark.full
@pytest.mark.parametrize("template", ["env-pack", "tool-pack"])
def test_what_a_template_makes_is_formatted_and_linted_as_this_repository(tmp_path: Path, template: str) -> None:
    config = ROOT / "pyproject.toml"
    for number, settings in enumerate(combinations(template)):
        pack = made(tmp_path / str(number), template, **settings)
        for command in (["check", "--no-cache"], ["format", "--check"]):
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *command, "--config", str(config), str(pack)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr


def test_cookiecutter_makes_the_same_pack(tmp_path: Path) -> None:
    from cookiecutter.main import cookiecutter

    theirs = Path(
        cookiecutter(
            str(FOLDER / "env-pack"),
            no_input=True,
            extra_context={"title": "Fresh", "kind": "tools"},
            output_dir=str(tmp_path / "theirs"),
            default_config={"replay_dir": str(tmp_path / "replay")},  # pyright: ignore[reportArgumentType]
        )
    )
    ours = made(tmp_path / "ours", kind="tools")

    def files(pack: Path) -> dict[str, str]:
        return {
            path.relative_to(pack).as_posix(): path.read_text("utf-8") for path in pack.rglob("*") if path.is_file()
        }

    assert files(theirs) == files(ours)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"namespace": "core"}, "the namespace 'core' belongs to gem-core"),
        ({"namespace": "rg"}, "the namespace 'rg' belongs to gem-envs-reasoning"),
        ({"title": "2048"}, "'2048' cannot be a namespace"),
        ({"namespace": "a-b"}, "'a-b' cannot be a namespace"),
        ({"distribution": "pytest"}, "a distribution 'pytest' is installed here"),
        ({"distribution": "no good"}, "'no good' cannot be a distribution"),
        ({"package": "json"}, "a package 'json' is installed here"),
        ({"package": "class"}, "'class' cannot be a package"),
    ],
)
def test_names_that_are_taken_or_not_names_are_refused(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(tmp_path, **settings)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "gem-envs-fresh").mkdir()

    with pytest.raises(ConfigError, match="exists already"):
        made(tmp_path)


def shape(project: Path) -> dict[str, object]:
    """What first-party packs and the template have in common: everything but names, words and dependencies."""
    table = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    package = next((project / "src").glob("gem_*")).name
    fields = table["project"]
    text = json.dumps(table["tool"]).replace(package, "PACKAGE")
    plugins = {value.replace(package, "PACKAGE") for value in fields["entry-points"]["gem.packs"].values()}
    return {
        "build": table["build-system"],
        "tool": text,
        "plugins": plugins,
        "fields": sorted(fields.keys() - {"optional-dependencies"}),
        "same": [fields[name] for name in ("requires-python", "readme", "license", "dynamic")],
        "core": [each for each in fields["dependencies"] if each.startswith("gem-core")],
        "name": fields["name"].replace("-", "_") == package,
        "files": [
            (project / name.format(package)).is_file()
            for name in ("README.md", "LICENSE", "src/{}/plugin.py", "src/{}/py.typed", "tests/test_contract.py")
        ],
    }


@pytest.mark.parametrize("pack", sorted(path.name for path in ROOT.glob("gem-envs-*")))
def test_a_first_party_pack_has_the_shape_that_the_template_makes(tmp_path: Path, pack: str) -> None:
    assert shape(ROOT / pack) == shape(made(tmp_path))
