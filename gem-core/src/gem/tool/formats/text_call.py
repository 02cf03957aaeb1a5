"""Calls whose arguments stand between two marks, as the formats with tags and with fences have them."""

import difflib
import json
from collections.abc import Iterable, Mapping
from textwrap import dedent

from gem.errors import did_you_mean
from gem.tool.formats.base import BadCall, ToolCall, malformed, unknown
from gem.tool.formats.json_call import read_object
from gem.tool.tool import Tool

_NEAR = 0.75
"""How like a tool's name a mark must be to pass for a slip. Marks that are no call at all are common."""
_ENVS_OWN = frozenset({"answer", "think", "result"})
"""Marks that are never a tool's, however near its name may be."""


def read_body(tool: Tool, body: str, end: int, example: str) -> ToolCall | BadCall:
    """The call that has `body` between its marks: the text of its one argument, or a JSON object of all."""
    parameter = tool.text_parameter
    if parameter is not None and not _is_object(tool, parameter, body):
        text = dedent(body).strip()
        if not text:
            return malformed(f"there is nothing in it, and {tool.name} needs its {parameter}", example)
        return ToolCall(tool.name, {parameter: text}, end)
    if not body.strip():
        return ToolCall(tool.name, {}, end)
    try:
        return ToolCall(tool.name, read_object(body), end)
    except ValueError as error:
        return malformed(f"what stands in it is no JSON object of the arguments of {tool.name}: {error}", example)


def write_body(tool: Tool, call: ToolCall) -> str:
    """What stands between the marks of `call`."""
    parameter = tool.text_parameter or ""
    text = call.arguments.get(parameter) if len(call.arguments) == 1 else None
    if isinstance(text, str) and not _is_object(tool, parameter, text):
        return text
    return json.dumps(dict(call.arguments), ensure_ascii=False)


def example_body(tool: Tool) -> str:
    """What to write between the marks, in words."""
    if tool.text_parameter is not None:
        return tool.text_parameter
    properties: Mapping[str, object] = tool.parameters.get("properties", {})
    return "{" + ", ".join(f'"{name}": …' for name in properties) + "}" if properties else ""


def arguments_of(tool: Tool) -> str:
    """What each argument is, a line each; nothing where text is all that a call has and nobody described it."""
    properties: Mapping[str, Mapping[str, object]] = tool.parameters.get("properties", {})
    if tool.text_parameter is not None and not properties[tool.text_parameter].get("description"):
        return ""
    return "".join(f"\n- {name}: {_kind(about)}" for name, about in properties.items())


def misspelt(marks: Iterable[str], tools: Mapping[str, Tool]) -> BadCall | None:
    """The answer to the first of `marks` that was likely meant as the name of a tool."""
    for mark in dict.fromkeys(marks):
        if mark not in _ENVS_OWN and difflib.get_close_matches(mark.lower(), [t.lower() for t in tools], 1, _NEAR):
            return unknown(mark, tools, did_you_mean(mark, tools))
    return None


def _is_object(tool: Tool, parameter: str, body: str) -> bool:
    """Whether `body` gives arguments by name, to a tool that has more than the one that text stands for."""
    if len(tool.parameters["properties"]) == 1 or not body.lstrip().startswith("{"):
        return False
    try:
        return parameter in read_object(body)
    except ValueError:
        return False


def _kind(about: Mapping[str, object]) -> str:
    described = about.get("description")
    return ", ".join(str(part) for part in (about.get("type"), described) if part) or "anything"
