"""Checks before a run: names are looked up before anything is imported, envs are built before a policy is loaded."""

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gem.dataset_env import DatasetEnv
from gem.errors import ConfigError, UnknownId
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.importing import is_import_path, module_hint
from gem.packs.lookup import find_named, find_offer
from gem.packs.make import bind, make
from gem.packs.registry import Kind, get_spec
from gem.packs.spec import EnvSpec


def check_name(kind: Kind, name: str) -> None:
    """Check that a pack offers `name`, or that the module of `"module.path:name"` exists; else `UnknownId`."""
    if is_import_path(name):
        _check_module(kind, name)
    elif find_offer(kind, name) is None:
        find_named(kind, name)  # raises, and lists the known names


def check_wrappers(wrappers: Iterable[ComponentRef]) -> None:
    """Check that these wrappers, and the tools in their settings, exist; else `UnknownId` or `SpecError`."""
    for wrapper in wrappers:
        name, settings = name_and_settings(wrapper)
        check_name("wrapper", name)
        for tool in as_list(settings.get("tools", ())) if name == "tool_env" else ():
            check_name("tool", name_and_settings(tool)[0])


class Checked(NamedTuple):
    """An env that can be built."""

    spec: EnvSpec
    """With all kwargs and wrappers."""
    rows: int | None
    """The number of rows of its data set; None for any other env."""


def check_envs(ids: str | Sequence[str], wrappers: Sequence[ComponentRef] = (), /, **kwargs: Any) -> dict[str, Checked]:
    """Check that these envs can be built, with the wrappers and kwargs of `gem.make`; returns what is known of each id.

    All names are looked up first; then each env is built once and closed. The rows of data sets are opened, so that
    they are downloaded before there are several processes. Errors are those of `gem.make` and `gem.data.open_table`.
    """
    specs = {str(id): get_spec(str(id)) for id in as_list(ids)}
    if not specs:
        raise ConfigError("no id was given; `gemx list` shows every one")
    check_wrappers(wrappers)
    found: dict[str, Checked] = {}
    for id, spec in specs.items():
        with make(spec, wrappers=wrappers, **kwargs) as env:
            bare: Any = env.unwrapped
            rows = len(bare.rows) if isinstance(bare, DatasetEnv) else None
        found[id] = Checked(bind(spec, wrappers=wrappers, **kwargs), rows)
    return found


def _check_module(kind: Kind, name: str) -> None:
    module = name.strip().partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # the parent is missing, or it is `__main__` of a script
        found = sys.modules.get(module)
    if found is None:
        raise UnknownId(f"the module {module!r} of the {kind} {name!r} does not exist.{module_hint(name)}")
