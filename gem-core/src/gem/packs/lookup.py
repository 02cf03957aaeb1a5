"""Wrappers, policies and tools by name: what packs offer, or what is at `"module.path:name"`."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from gem.core import Env
from gem.errors import PackError, SpecError, UnknownId, did_you_mean
from gem.packs.discovery import Pack
from gem.packs.importing import check_arguments, import_object, import_path, is_import_path, module_hint
from gem.packs.registry import Kind, registry, tables
from gem.tool.tool import Tool


class Offer(NamedTuple):
    """The `entry_point` that a `pack` offers under a name."""

    entry_point: str
    pack: Pack


def find_offer(kind: Kind, name: str) -> Offer | None:
    """What an installed pack offers under `name`, not imported; None if it is nothing, as for `"module:name"`."""
    for namespace in ("core", None):  # the core's own names are found without loading any other pack
        for pack in registry().load(namespace):
            entry_point = tables(pack)[kind].get(name)
            if entry_point is not None:
                return Offer(entry_point, pack)
    return None


def find_named(kind: Kind, name: str) -> Any:
    """What a pack registered under `name`, or what is at `"module.path:name"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: it cannot be imported, or the module has no such name.
    """
    if is_import_path(name):
        return import_path(kind, name)
    if (offer := find_offer(kind, name)) is not None:
        return import_object(offer.entry_point)
    known = [each for pack in registry().load() for each in tables(pack)[kind]]
    hints = f"{did_you_mean(name, known)}{module_hint(name)}"
    raise UnknownId(f"no installed pack has a {kind} {name!r}.{hints} Known: {', '.join(sorted(known))}.")


def find_wrapper(name: str) -> Callable[..., Env]:
    """The wrapper that a pack registered under `name`, or the callable at `"module.path:name"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: the module has no such name.
    """
    return find_named("wrapper", name)


def find_policy(name: str) -> Callable[..., Any]:
    """What makes the policy that a pack registered under `name`, or the callable at `"module.path:name"`.

    Raises:
        UnknownId: no installed pack has it.
        PackError: the module has no such name.
    """
    return find_named("policy", name)


def find_tools(name: str, **settings: Any) -> list[Tool]:
    """What a pack offers under `name`, or stands at `"module.path:name"`: mostly one tool.

    Args:
        name: its name.
        settings: for what a pack offers as a function or a class: what it is called with.

    Raises:
        UnknownId: no installed pack has it.
        PackError: the module has no such name, or there is no tool under it.
        SpecError: a setting that it does not take, or one that it lacks.
    """
    found = find_named("tool", name)
    if isinstance(found, Tool):
        if settings:
            raise SpecError(f"the tool {name!r} takes no settings, such as {next(iter(settings))!r}")
        return [found]
    if callable(found):
        check_arguments(f"the tool {name!r}", found, settings)
        found = found(**settings)
    tools: list[Any] = list(found) if isinstance(found, list | tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
    for tool in tools:
        if not isinstance(tool, Tool):
            raise PackError(f"under the tool name {name!r} there is a {type(tool).__name__}, and no gem.Tool")
    return tools


def tool_settings(name: str) -> dict[str, Any]:
    """The settings that `find_tools(name)` takes, with their defaults; `inspect.Parameter.empty` where one is needed.

    Raises:
        UnknownId, PackError: see `find_tools`.
    """
    found = find_named("tool", name)
    if not (inspect.isfunction(found) or inspect.isclass(found)):
        return {}
    return {each.name: each.default for each in inspect.signature(found).parameters.values()}
