"""Checks of the entry points of a pack, by importing them all."""

from collections.abc import Callable, Iterator
from typing import Any

import click

from gem.errors import GemError, MissingExtra
from gem.packs.discovery import Pack
from gem.packs.importing import import_object
from gem.packs.make import import_env
from gem.tool.tool import Tool


def faults(pack: Pack) -> list[str]:
    """Problems of the entry points of a loaded pack, one line each."""
    found: list[str] = []
    for what, load in _offered(pack):
        try:
            load()
        except MissingExtra:  # reported when it is needed
            continue
        except GemError as error:
            found.append(f"{what}: {error}")
    return found


def _offered(pack: Pack) -> Iterator[tuple[str, Callable[[], object]]]:
    """A description of each entry point, and a function that imports it and raises `GemError` if it is wrong."""
    seen: set[str] = set()
    for spec in pack.envs:
        if spec.entry_point not in seen:  # many ids may share a class
            yield spec.id, lambda spec=spec: import_env(spec)
        seen.add(spec.entry_point)
    for source in pack.sources:
        for at in filter(None, (source.resolve, source.names)):
            yield f"the source {source.form!r}", lambda at=at: _check(at, callable, "callable")
    for name, at in pack.tools.items():
        yield f"the tool {name!r}", lambda at=at: _check(at, _is_tool, "a tool")
    for kind, table in (("wrapper", pack.wrappers), ("policy", pack.policies), ("algorithm", pack.algorithms)):
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
