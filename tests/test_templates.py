"""Packs made by `gemx new`: each is installed from its wheel into an empty environment, and works at once."""

import ast
import compileall
import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import documents
import pytest
import yaml
from click.testing import CliRunner
from scratch import Scratch, build_wheels, made_once

from gem.cli.main import main
from gem.errors import ConfigError
from gem.templates import FOLDER, choices, new_pack

ROOT = Path(__file__).parent.parent

ENV = {
    "game": "fresh:Lamps-v0",
    "questions": "fresh:Articles",
    "tools": "fresh:Storeroom-v0",
}
"""Kind → an id of the pack."""

QUICK = ("steps=2", "warmup.steps=20", "eval.episodes=8", "rollout.episodes=16", "watch.stop=false")
"""Training that ends at once, and learns nothing."""


def made(folder: Path, template: str = "env-pack", **settings: str) -> Path:
    return new_pack(template, {"title": "Fresh", **settings}, folder)


def combinations(template: str) -> list[dict[str, str]]:
    """Settings of a template in which every two choices are together; of three settings, half of all combinations."""
    names = ("kind", "licence", "ci") if template == "env-pack" else ("licence", "ci")
    offered = [list(enumerate(choices(template, name))) for name in names]
    return [
        {name: value for name, (_, value) in zip(names, chosen, strict=True)}
        for chosen in itertools.product(*offered)
        if len(names) < 3 or sum(number for number, _ in chosen) % 2 == 0
    ]


EVERY = [(template, settings) for template in ("env-pack", "tool-pack") for settings in combinations(template)]
"""Every template with every combination of its choices."""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Those of gem-core and gem-eval."""

    def build(folder: Path) -> None:
        build_wheels([ROOT / "gem-core", ROOT / "gem-eval"], folder)

    return sorted(made_once(tmp_path_factory, "core_and_eval", build).glob("*.whl"))


def born(
    folder: Path, wheels: list[Path], template: str, settings: Mapping[str, str], *others: str
) -> tuple[Scratch, Path]:
    """A pack that the installed `gemx new` makes, and an environment with its wheel, some `wheels` and `others`."""
    env = Scratch(folder / "env", "pytest", "cookiecutter", *others)
    env.install(*wheels)
    options = [word for name, value in settings.items() for word in (f"--{name}", value)]
    new = env.gemx("new", template, "Fresh", *options, "--output", str(folder))
    assert new.returncode == 0, new.stderr
    [pack] = folder.glob("gem-*-fresh")
    env.install(*build_wheels([pack], folder / "wheels"))
    return env, pack


def works(env: Scratch, pack: Path, kind: str | None) -> None:
    """The tests of the pack pass, and what it offers is listed, checked and played; without a kind, it is a tool."""
    tested = env.pytest(pack / "tests")
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
    assert "skipped" not in tested.stdout
    if kind is None:
        assert "Convert a length" in env.gemx("tools", "convert").stdout
        played = env.gemx_json("eval", "core:Echo-v0", "--tools", "convert", "--model", "expert", "--episodes", "4")
    else:
        assert ENV[kind] in [each["id"] for each in env.gemx_json("list", "fresh")["envs"]]
        checked = env.gemx("check", ENV[kind])
        assert checked.returncode == 0, checked.stdout
        played = env.gemx_json("eval", ENV[kind], "--model", "expert", "--episodes", "10")
    assert played["success"] == 1.0


def test_a_game_is_green_at_birth(tmp_path: Path, wheels: list[Path]) -> None:
    env, pack = born(tmp_path, wheels, "env-pack", {"kind": "game", "licence": "MIT"})

    works(env, pack, "game")


@pytest.mark.full
@pytest.mark.parametrize(
    ("template", "settings"), EVERY, ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else value
)
def test_every_choice_is_green_at_birth(
    tmp_path: Path, wheels: list[Path], template: str, settings: dict[str, str]
) -> None:
    env, pack = born(tmp_path, wheels, template, settings)

    works(env, pack, settings.get("kind"))


@pytest.mark.full
@pytest.mark.parametrize("kind", [*ENV, None])
def test_what_the_readme_and_the_workflows_of_a_pack_say_can_be_done(
    tmp_path: Path, wheels: list[Path], kind: str | None
) -> None:
    """Also that it can be trained on, built and checked for an index; commands are done but for uploading."""
    template, settings = ("env-pack", {"kind": kind}) if kind else ("tool-pack", {})
    env, pack = born(tmp_path, wheels, template, settings, "gem-train")
    env.install(*build_wheels([ROOT / "gem-train"], tmp_path / "train"))
    said = [
        command.partition(" #")[0]
        for block in documents.blocks((pack / "README.md").read_text("utf-8"))
        for command, _ in block.commands
    ]
    for file in sorted((pack / ".github" / "workflows").glob("*.yml")):
        jobs = yaml.safe_load(file.read_text("utf-8"))["jobs"].values()
        said += [step["run"] for job in jobs for step in job["steps"] if "run" in step]

    done = {command.split()[0] for command in said}
    assert done == {"pip", "gemx", "pytest", "python", "twine"}
    assert any(command.startswith("gemx train") for command in said)
    for command in dict.fromkeys(said):
        if not command.startswith(("pip install ", "twine upload ")):
            do(command, env, pack)


def do(command: str, env: Scratch, pack: Path) -> None:
    """Run a command in the folder of a pack: what builds and checks it by this interpreter, the rest in `env`."""
    program, *words = shlex.split(command)
    words = [name for word in words for name in (sorted(map(str, pack.glob(word))) if "*" in word else [word])]
    if program == "gemx":
        settings = [word for each in QUICK for word in ("--set", each)] if words[0] == "train" else []
        arguments = [env.folder / "bin" / "gemx", *words, *settings]
    elif program == "pytest":
        arguments = [env.python, "-m", "pytest", "-q"]
    else:
        offline = ["--no-isolation"] if words == ["-m", "build"] else []
        arguments = [sys.executable, *(words if program == "python" else ["-m", program, *words]), *offline]
    finished = subprocess.run(
        arguments, cwd=pack, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"


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
                if path.suffix == ".yml":
                    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}, path
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


@pytest.mark.parametrize(("template", "settings"), [("env-pack", {"kind": "tools"}), ("tool-pack", {})])
def test_cookiecutter_makes_the_same_pack_from_what_pip_has_compiled(
    tmp_path: Path, template: str, settings: dict[str, str]
) -> None:
    from cookiecutter.main import cookiecutter  # pyright: ignore[reportMissingTypeStubs]

    installed = shutil.copytree(FOLDER / template, tmp_path / template)
    compileall.compile_dir(str(installed), quiet=2)
    assert list(installed.rglob("__pycache__"))
    theirs = Path(
        cookiecutter(
            str(installed),
            no_input=True,
            extra_context={"title": "Fresh", **settings},
            output_dir=str(tmp_path / "theirs"),
            default_config={"replay_dir": str(tmp_path / "replay")},  # pyright: ignore[reportArgumentType]
        )
    )
    ours = made(tmp_path / "ours", template, **settings)

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
        ({"distribution": "gem-sandbox"}, "'gem-sandbox' is a package of GEM"),
        ({"package": "gem_envs_math"}, "'gem_envs_math' is a package of GEM"),
        ({"distribution": "no good"}, "'no good' cannot be a distribution"),
        ({"package": "json"}, "a package 'json' is installed here"),
        ({"package": "class"}, "'class' cannot be a package"),
        ({"description": "two\nlines"}, "the description must be one line"),
    ],
)
def test_names_that_are_taken_or_not_names_are_refused(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(tmp_path, **settings)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("template", "title", "namespace"),
    [("env-pack", "gem-envs-maze", "maze"), ("env-pack", "Gem Envs Maze", "maze"), ("tool-pack", "gem_tools_si", "si")],
)
def test_the_name_of_a_distribution_is_a_title_too(tmp_path: Path, template: str, title: str, namespace: str) -> None:
    pack = made(tmp_path, template, title=title)

    project = tomllib.loads((pack / "pyproject.toml").read_text("utf-8"))["project"]
    assert pack.name == project["name"] == f"gem-{template.partition('-')[0]}s-{namespace}"
    assert list(project["entry-points"]["gem.packs"]) == [namespace]


def test_what_an_author_writes_is_not_read_as_a_template(tmp_path: Path) -> None:
    written = '{{ 7 * 7 }} {% if "a" %} {# """ \\x \u00e9 \U0001f600.'
    pack = made(tmp_path, description=written, author=written)

    project = tomllib.loads((pack / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["description"], project["authors"]) == (written, [{"name": written}])
    docstring = ast.get_docstring(ast.parse((pack / "src/gem_envs_fresh/__init__.py").read_text("utf-8")))
    assert docstring == written.replace('"', "'") + " See the pack's README for all."
    assert f"\n{written}\n" in (pack / "README.md").read_text("utf-8")


def test_settings_that_nobody_can_be_asked_for_are_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["new", "env-pack", "--output", str(tmp_path)], input="")

    assert done.stderr == "gemx: there is nobody to ask for settings: give a title, such as Maze\n"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"cannot write to .*file"):
        made(tmp_path / "file" / "below")


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "gem-envs-fresh").mkdir()

    with pytest.raises(ConfigError, match="exists already"):
        made(tmp_path)


def shape(project: Path) -> dict[str, object]:
    """What first-party packs and the template have in common: everything but names, words and dependencies."""
    table = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    package = next((project / "src").glob("gem_*"))
    fields = table["project"]
    plugin, init = (ast.parse((package / name).read_text("utf-8")) for name in ("plugin.py", "__init__.py"))
    hooks = [each for each in plugin.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")]
    readme = (project / "README.md").read_text("utf-8")
    return {
        "build": table["build-system"],
        "tool": json.dumps(table["tool"]).replace(package.name, "PACKAGE"),
        "plugins": {value.replace(package.name, "PACKAGE") for value in fields["entry-points"]["gem.packs"].values()},
        "fields": sorted(fields.keys() - {"optional-dependencies"}),
        "same": [fields[name] for name in ("requires-python", "readme", "license", "dynamic", "classifiers")],
        "core": [re.sub(r"\[.*\]", "", each) for each in fields["dependencies"] if each.startswith("gem-core")],
        "name": fields["name"].replace("-", "_") == package.name,
        "folders": sorted(path.name for path in project.iterdir() if path.name in ("LICENSE", "src", "tests")),
        "typed": (package / "py.typed").is_file(),
        "init": [type(each).__name__ for each in init.body],
        "api": "GEM_API = 1" in map(ast.unparse, plugin.body),
        "documented": ast.get_docstring(plugin) is not None,
        "hooks": {ast.unparse(mark) for hook in hooks for mark in hook.decorator_list},
        "annotated": all(hook.returns is not None for hook in hooks),
        "title": readme.startswith(f"# {fields['name']}\n"),
        "install": "pip install " in documents.blocks(readme)[0].text,
    }


FIRST_PARTY = {path.name: "env-pack" for path in ROOT.glob("gem-envs-*")} | {"gem-tools": "tool-pack"}


@pytest.mark.parametrize("pack", sorted(FIRST_PARTY))
def test_a_first_party_pack_has_the_shape_that_the_template_makes(tmp_path: Path, pack: str) -> None:
    ours, new = ROOT / pack, made(tmp_path, FIRST_PARTY[pack])

    assert shape(ours) == shape(new)
    if FIRST_PARTY[pack] == "env-pack":
        assert all("contract_tests(" in (each / "tests/test_contract.py").read_text("utf-8") for each in (ours, new))
