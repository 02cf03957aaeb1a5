"""Tools as they are given to `ToolEnv`: objects, and names that packs offer."""

from collections.abc import Sequence

from gem.errors import ConfigError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.lookup import find_tools
from gem.tool.tool import Tool

Tools = ComponentRef | Tool | Sequence[ComponentRef | Tool]
"""Tools, or names of tools that packs offer: several in a list, or one; names also in a string with commas."""


def tools_by_name(tools: Tools, own: Sequence[Tool]) -> dict[str, Tool]:
    """The tools of an env itself, and those that are given, by their names.

    Raises:
        ConfigError: two tools have the same name, there is none, or something is not a tool.
        UnknownId, SpecError: a tool, or a setting of one, does not exist.
    """
    found: dict[str, Tool] = {}
    for each in [*own, *([tools] if isinstance(tools, Tool) else as_list(tools))]:
        if callable(each) and not isinstance(each, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]: people try it
            raise ConfigError(f"{each!r} is not a tool; @gem.tool.tool makes one from a typed function")
        if isinstance(each, Tool):
            offered = [each]
        else:
            name, settings = name_and_settings(each)
            offered = find_tools(name, **settings)
        for tool in offered:
            if tool.method:
                raise ConfigError(
                    f"the tool {tool.name!r} is a method: ToolEnv(env) offers the methods of its env by itself"
                )
            if tool.name in found:
                raise ConfigError(f"two tools are called {tool.name!r}; give one of them another name")
            found[tool.name] = tool
    if not found:
        raise ConfigError("ToolEnv needs at least one tool: give it one, or decorate methods of the env with @tool")
    return found
