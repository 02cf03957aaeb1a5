"""Tools by name: what packs offer, or what is at `"module.path:name"`."""

import inspect
from typing import Any

from gem.errors import PackError, SpecError
from gem.importing import check_arguments
from gem.registry import find_named
from gem.tool.tool import Tool


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
