"""Names are looked up before anything that they name is imported, and envs are tried before a policy is built."""

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from gem.errors import ConfigError, UnknownId
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.importing import is_import_path, module_hint
from gem.packs.lookup import find_named, find_offer
from gem.packs.make import bind, make
from gem.packs.registry import Kind, get_spec
from gem.packs.spec import EnvSpec


def check_name(kind: Kind, name: str) -> None:
    """See that a pack offers `name`, or that there is a module for `"module.path:name"`.

    Raises:
        UnknownId: there is not.
    """
    if is_import_path(name):
        _check_module(kind, name)
    elif find_offer(kind, name) is None:
        find_named(kind, name)  # raises, and says what there is


def check_wrappers(wrappers: Iterable[ComponentRef]) -> None:
    """See that there are these wrappers, and the tools that they put around an env.

    Raises:
        UnknownId: there are not.
        SpecError: one has no name.
    """
    for wrapper in wrappers:
        name, settings = name_and_settings(wrapper)
        check_name("wrapper", name)
        for tool in as_list(settings.get("tools", ())) if name == "tool_env" else ():
            check_name("tool", name_and_settings(tool)[0])


def check_envs(ids: str | Sequence[str], wrappers: Sequence[ComponentRef] = (), **kwargs: Any) -> dict[str, EnvSpec]:
    """See that these envs can be built: all names first, and then each is built once and closed.

    Args:
        ids: one or several, or names with commas between.
        wrappers: as in `gem.make`, for all of them.
        **kwargs: the same.

    Returns:
        Each id with its spec, with the wrappers and kwargs in force.

    Raises:
        ConfigError: there is no id.
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """
    specs = {str(id): get_spec(str(id)) for id in as_list(ids)}
    if not specs:
        raise ConfigError("there is no id; `gemx list` shows every one")
    check_wrappers(wrappers)
    for spec in specs.values():
        make(spec, wrappers=wrappers, **kwargs).close()
    return {id: bind(spec, wrappers=wrappers, **kwargs) for id, spec in specs.items()}


def _check_module(kind: Kind, name: str) -> None:
    module = name.strip().partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # a parent is missing; `__main__` of a script has no spec
        found = sys.modules.get(module)
    if found is None:
        raise UnknownId(f"there is no module {module!r}, where the {kind} {name!r} should be.{module_hint(name)}")
