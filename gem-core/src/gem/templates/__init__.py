"""Templates of packs for cookiecutter, and filling them in, as `gemx new` does.

`cookiecutter PATH` with one of the folders beside this file does the same, without the checks of names that are taken.
"""

import importlib.util
import json
import keyword
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from gem.errors import ConfigError, MissingExtra
from gem.packs.discovery import KNOWN_PACKS, OWN_PACKS
from gem.packs.registry import registry

FOLDER = Path(__file__).parent
"""The folder of the templates `env-pack` and `tool-pack`."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def choices(template: str, setting: str) -> list[str]:
    """What a setting of a template may be, the default first."""
    return json.loads((FOLDER / template / "cookiecutter.json").read_text("utf-8"))[setting]


def new_pack(template: str, settings: Mapping[str, str], folder: Path, *, ask: bool = False) -> Path:
    """Make a pack in a new folder below `folder`, named like its distribution, and return that folder.

    Args:
        template: `env-pack` or `tool-pack`.
        settings: values of settings of the template's `cookiecutter.json`; the others have their defaults.
        folder: where the pack is put.
        ask: whether the user is asked on the terminal, with `settings` as the defaults.

    Raises:
        ConfigError: a name is taken, or not a name; the folder exists, or cannot be written; or nobody answers.
        MissingExtra: cookiecutter is not installed.
    """
    try:
        from cookiecutter.exceptions import OutputDirExistsException  # pyright: ignore[reportMissingTypeStubs]
        from cookiecutter.generate import generate_context, generate_files  # pyright: ignore[reportMissingTypeStubs]
        from cookiecutter.prompt import prompt_for_config  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra(f"templates need cookiecutter ({error}): pip install 'gem-core[templates]'") from error
    context: dict[str, Any] = generate_context(
        str(FOLDER / template / "cookiecutter.json"),
        extra_context={name: _literal(value) for name, value in settings.items()},
    )
    try:
        context["cookiecutter"] = prompt_for_config(context, no_input=not ask)
    except EOFError as error:
        raise ConfigError("there is nobody to ask for settings: give a title, such as Maze") from error
    chosen = {name: str(value) for name, value in context["cookiecutter"].items()}
    for name in ("title", "description", "author"):
        if _CONTROL.search(chosen[name]):
            raise ConfigError(f"the {name} must be one line, without control characters: {chosen[name]!r}")
    _check_names(chosen["namespace"], chosen["distribution"], chosen["package"])
    try:
        return Path(generate_files(str(FOLDER / template), context, str(folder)))
    except OutputDirExistsException as error:
        raise ConfigError(f"{folder / chosen['distribution']} exists already; choose another name or folder") from error
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error}") from error


def _literal(value: str) -> str:
    """What renders to `value`, which cookiecutter would read as a template."""
    return f"{{{{ {json.dumps(value, ensure_ascii=False)} }}}}" if "{" in value else value


def _check_names(namespace: str, distribution: str, package: str) -> None:
    """The template checks names as well, for cookiecutter; but its messages have a traceback above them."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", namespace):
        raise ConfigError(
            f"{namespace!r} cannot be a namespace: it has lower-case letters, digits and underscores, and begins with "
            "a letter. Choose one with --namespace."
        )
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", distribution):
        raise ConfigError(f"{distribution!r} cannot be a distribution: it has letters, digits, and '-' or '_' within")
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", package) or keyword.iskeyword(package):
        raise ConfigError(f"{package!r} cannot be a package: it has lower-case letters, digits and underscores")
    owner = " and ".join(KNOWN_PACKS.get(namespace, ()))
    for pack in registry().packs:
        if namespace in pack.namespaces:
            owner = pack.distribution
    if owner:
        raise ConfigError(f"the namespace {namespace!r} belongs to {owner}; choose another one")
    for name in (distribution, package):
        if re.sub(r"[-_.]+", "-", name).lower() in {*OWN_PACKS, "gem-interop", "gem-sandbox"}:
            raise ConfigError(f"{name!r} is a package of GEM; choose another name")
        try:
            metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        raise ConfigError(f"a distribution {name!r} is installed here; choose another name")
    if importlib.util.find_spec(package):
        raise ConfigError(f"a package {package!r} is installed here; choose another name")
