"""Calls whose arguments stand between two marks, as the formats with tags and with fences have them."""

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from textwrap import dedent
from typing import Any

from gem.errors import did_you_mean
from gem.marks import in_its_result
from gem.tool.formats.base import BadCall, ToolCall, malformed, unknown
from gem.tool.formats.compact_schema import as_json, compact
from gem.tool.formats.json_call import read_object
from gem.tool.tool import Tool

_NEAR = 0.75
"""How like a tool's name a mark must be to pass for a slip. Marks that are no call at all are common."""
_ENVS_OWN = frozenset({"answer", "think", "result"})
"""Marks that are never a tool's, however near its name may be."""
_MOST_NAMES = 2000
"""Characters of an example."""


def read_body(tool: Tool, body: str, end: int, example: str) -> ToolCall | BadCall:
    """The call that has `body` between its marks: the text of its one argument, or a JSON object of all."""
    parameter = tool.text_parameter
    if parameter is not None and not _is_object(tool, parameter, body):
        text = dedent(body).strip()
        if not text:
            return malformed(f"there is nothing in it, and {tool.name} needs its {in_its_result(parameter)}", example)
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
    return in_its_result(tool.text_parameter or _object(tool))


def explain(tool: Tool, mark: Callable[[Tool, str], str]) -> str:
    """What an agent is told of a tool: an example of a call, what the tool does, and the schema of its arguments.

    There is no schema where it would say nothing: without arguments, or if the only one is any text.

    Args:
        tool: what to explain.
        mark: puts the marks of the format around the body of a call.
    """
    lines = [mark(tool, example_body(tool)), in_its_result(tool.description)]
    schema = compact(tool.parameters)
    schema.pop("type", None)
    if schema.get("additionalProperties") is False:
        del schema["additionalProperties"]
    plain = {"properties": {tool.text_parameter: {"type": "string"}}, "required": [tool.text_parameter]}
    if schema not in ({}, {"properties": {}}, plain):
        lines.append(in_its_result(f"Arguments: {as_json(schema)}"))
    if tool.text_parameter is not None and len(tool.parameters["properties"]) > 1:
        lines += ["Or, to give other arguments too:", mark(tool, in_its_result(_object(tool)))]
    return "\n".join(lines)


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


def _object(tool: Tool) -> str:
    """A JSON object of the arguments, as an example; nothing for a tool without arguments."""
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    names = [name for name, schema in properties.items() if schema is not False]
    names += [name for name in tool.parameters.get("required", ()) if name not in properties]
    if not names:
        # They may be named by what a reference leads to.
        return "{…}" if tool.parameters.keys() - {"type", "properties", "required", "additionalProperties"} else ""
    text = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: …" for name in names)
    return "{" + (text if len(text) <= _MOST_NAMES else text[:_MOST_NAMES].rpartition(", ")[0] + ", …") + "}"
