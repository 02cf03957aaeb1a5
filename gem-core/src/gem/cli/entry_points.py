"""Whether what the tables of a pack name is there: every entry point is imported, as listing never does."""

from collections.abc import Callable, Iterator
from typing import Any

import click

from gem.errors import GemError, MissingExtra
from gem.packs.discovery import Pack
from gem.packs.importing import import_object
from gem.packs.make import import_env
from gem.tool.tool import Tool


def faults(pack: Pack) -> list[str]:
    """What is wrong with what a loaded pack offers, a line each."""
    found: list[str] = []
    for what, load in _offered(pack):
        try:
            load()
        except MissingExtra:  # an optional dependency, which is said when it is needed
            continue
        except GemError as error:
            found.append(f"{what}: {error}")
    return found


def _offered(pack: Pack) -> Iterator[tuple[str, Callable[[], object]]]:
    """What each thing is, and what imports it and raises a `GemError` if it will not do."""
    seen: set[str] = set()
    for spec in pack.envs:
        if spec.entry_point not in seen:  # many ids may be of one class
            yield spec.id, lambda spec=spec: import_env(spec)
        seen.add(spec.entry_point)
    for name, at in pack.tools.items():
        yield f"the tool {name!r}", lambda at=at: _check(at, _is_tool, "a tool")
    for kind, table in (("wrapper", pack.wrappers), ("policy", pack.policies)):
        for name, at in table.items():
            yield f"the {kind} {name!r}", lambda at=at: _check(at, callable, "callable")
    for command in pack.commands:
        yield f"the command {command.name!r}", lambda at=command.entry_point: _check(at, _is_command, "a click command")


def _check(entry_point: str, fits: Callable[[Any], bool], what: str) -> None:
    found = import_object(entry_point)
    if not fits(found):
        raise GemError(f"{entry_point!r} is {type(found).__name__} {found!r:.80}, which is not {what}")


def _is_tool(found: Any) -> bool:
    return isinstance(found, Tool | list | tuple) or callable(found)


def _is_command(found: Any) -> bool:
    return isinstance(found, click.Command)
