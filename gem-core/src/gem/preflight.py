"""Names, looked up before anything that they name is imported: a wrong one is known at once."""

import importlib.util
import sys
from collections.abc import Iterable

from gem.component import Component, listed, name_and_settings
from gem.errors import UnknownId
from gem.importing import is_direct
from gem.registry import Kind, find_named, find_offer


def check_name(kind: Kind, name: str) -> None:
    """See that a pack offers `name`, or that there is a module for `"module.path:name"`.

    Raises:
        UnknownId: there is not.
    """
    if is_direct(name):
        _check_module(kind, name)
    elif find_offer(kind, name) is None:
        find_named(kind, name)  # raises, and says what there is


def check_wrappers(wrappers: Iterable[Component]) -> None:
    """See that there are these wrappers, and the tools that they put around an env.

    Raises:
        UnknownId: there are not.
        SpecError: one has no name.
    """
    for wrapper in wrappers:
        name, settings = name_and_settings(wrapper)
        check_name("wrapper", name)
        for tool in listed(settings.get("tools", ())) if name == "tool_env" else ():
            check_name("tool", name_and_settings(tool)[0])


def _check_module(kind: Kind, name: str) -> None:
    module = name.strip().partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # a parent is missing; `__main__` of a script has no spec
        found = sys.modules.get(module)
    if found is None:
        raise UnknownId(f"there is no module {module!r}, where the {kind} {name!r} should be")
