"""Suites: groups of environments in a TOML file."""

import os
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gem.errors import ConfigError, did_you_mean
from gem_eval.settings import Group, in_words


def read_suite(path: str | os.PathLike[str], names: str = "") -> tuple[Group, ...]:
    """The groups of a suite: its tables, each with the fields of a `Group`.

    Args:
        path: the TOML file.
        names: those to take, with commas between; by default all.

    Raises:
        ConfigError: it is not a suite, or does not have such a group.
        OSError: it cannot be read.
    """
    try:
        tables = tomllib.loads(Path(path).read_text("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    wanted = [name.strip() for name in names.split(",") if name.strip()] or list(tables)
    if not wanted:
        raise ConfigError(f"{path} is empty; a suite has a table per group, such as [easy] with ids = ['game:*-easy']")
    return tuple(_group(path, tables, name) for name in wanted)


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
