"""Wrappers, policies, rewards, algorithms, probes and tools by registered name, or by `"module.path:name"`."""

import inspect
from typing import TYPE_CHECKING, Any

from gem.errors import PackError, SpecError, UnknownId, did_you_mean
from gem.packs.discovery import how_to_install, missing_owners
from gem.packs.importing import check_arguments, import_object, import_path, is_import_path, module_hint
from gem.packs.registry import Kind, registry, tables

if TYPE_CHECKING:
    from gem.tool.tool import Tool


def find_offer(kind: Kind, name: str) -> str | None:
    """The entry point that is registered under `name`; None if none is, as for `"module:name"`."""
    for namespace in ("core", None):  # names of the core need no other pack
        for pack in registry().load(namespace):
            if (entry_point := tables(pack)[kind].get(name)) is not None:
                return entry_point
    return None


def find_named(kind: Kind, name: str) -> Any:
    """The object that a pack registered under `name`, or the one at `"module.path:name"`.

    `UnknownId` if no installed pack has it, `PackError` if it cannot be imported.
    """
    if is_import_path(name):
        return import_path(kind, name)
    if (entry_point := find_offer(kind, name)) is not None:
        return import_object(entry_point)
    packs = registry().load()
    known = [each for pack in packs for each in tables(pack)[kind]]
    hints = f"{did_you_mean(name, known)}{module_hint(name)}"
    article = "an" if kind == "algorithm" else "a"
    if kind == "policy":
        hints += " A model behind a chat API is openai:NAME."
    if kind == "reward":
        hints += " One of your own is folder/file.py:NAME."
    for owner in missing_owners("tools", packs) if kind == "tool" else ():
        hints += f" Tools such as python and search are in {owner}: {how_to_install(owner)}."
    listed = f" Known: {', '.join(sorted(known))}." if known else ""
    raise UnknownId(f"no installed pack has {article} {kind} {name!r}.{hints}{listed}")


def find_tools(name: str, **settings: Any) -> "list[Tool]":
    """The tools under `name`, mostly one. If a function or class is registered, it is called with the settings.

    Errors are those of `find_named`; `PackError` for what is not a tool, `SpecError` for a wrong setting.
    """
    from gem.tool.tool import Tool  # late: an env without tools starts without what they need

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
            raise PackError(f"the tool {name!r} is a {type(tool).__name__}, not a gem.Tool")
    return tools


def tool_settings(name: str) -> dict[str, Any]:
    """The settings of `find_tools(name)` with their defaults; `inspect.Parameter.empty` for a required one."""
    found = find_named("tool", name)
    if not (inspect.isfunction(found) or inspect.isclass(found)):
        return {}
    return {each.name: each.default for each in inspect.signature(found).parameters.values()}
