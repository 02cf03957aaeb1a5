"""Suites: groups of environments in a TOML file."""

import os
import tomllib
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from gem.errors import ConfigError, did_you_mean
from gem.packs.component_ref import ComponentRef
from gem_eval.settings import Group, in_words

MODELS = "models"
"""The table of a suite that is no group: models by role."""


def read_models(path: str | os.PathLike[str]) -> dict[str, ComponentRef]:
    """The models that play roles in a suite: its tables `[models.ROLE]`, each with a `name` and settings.

    Raises:
        ConfigError: it is not a suite, or these are not models.
        OSError: it cannot be read.
    """
    models: Any = _tables(path).get(MODELS, {})
    if not isinstance(models, dict):
        raise ConfigError(
            f"{path}: {MODELS!r} has a table for each role, such as [models.judge] with name = 'openai:…'"
        )
    return cast("dict[str, ComponentRef]", models)


def read_suite(path: str | os.PathLike[str], names: str = "") -> tuple[Group, ...]:
    """The groups of a suite: its tables, each with the fields of a `Group`, but that of `read_models`.

    Args:
        path: the TOML file.
        names: those to take, with commas between; by default all.

    Raises:
        ConfigError: it is not a suite, or does not have such a group.
        OSError: it cannot be read.
    """
    tables = _tables(path)
    tables.pop(MODELS, None)
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(tables)
    if not wanted:
        raise ConfigError(f"{path} is empty; a suite has a table per group, such as [easy] with ids = ['game:*-easy']")
    return tuple(_group(path, tables, name) for name in wanted)


def _tables(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error


def _group(path: str | os.PathLike[str], tables: dict[str, Any], name: str) -> Group:
    if name not in tables:
        known = ", ".join(tables) or "none"
        raise ConfigError(f"{path} has no group {name!r}.{did_you_mean(name, tables)} It has: {known}.")
    table = tables[name]
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {name!r} is not a table; a group is one, such as [easy] with ids = ['game:*-easy']")
    return make_group(f"{path}, [{name}]", {"name": name, **table})


def make_group(where: str, fields: dict[str, Any]) -> Group:
    """A group of these fields.

    Raises:
        ConfigError: one is unknown or invalid; the message begins with `where`, if that is not empty.
    """
    try:
        return Group.model_validate(fields)
    except ValidationError as error:
        raise ConfigError(in_words(error, where, Group.model_fields)) from error
