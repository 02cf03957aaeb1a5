"""Calls whose arguments stand between two marks, as the formats with tags and with fences have them."""

import difflib
import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from textwrap import dedent
from typing import Any

from gem.errors import did_you_mean
from gem.marks import in_its_result
from gem.tool.formats.base import BadCall, ToolCall, malformed, unknown
from gem.tool.formats.json_call import read_object
from gem.tool.formats.schema_words import cut, in_words
from gem.tool.formats.standalone import as_json, standalone
from gem.tool.tool import Tool

_NEAR = 0.75
"""How like a tool's name a mark must be to pass for a slip. Marks that are no call at all are common."""
_ENVS_OWN = frozenset({"answer", "think", "result"})
"""Marks that are never a tool's, however near its name may be."""
_SHOWN = frozenset(("type", "properties", "required", "description", "default", "$anchor"))
"""Keywords of a tool's schema that the lines on the arguments say already, or that say nothing of a call."""
_LONGEST, _MOST_NAMES, _MOST_TEXT = 1000, 2000, 10_000
"""How many characters there are at most of a description or default, of an example, and of all arguments."""


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
    """What an agent is told of a tool: an example of a call, what the tool does, and what each argument is.

    Nothing is said of an argument that is any text, if it is the only one and nobody described it.

    Args:
        tool: what to explain.
        mark: puts the marks of the format around what stands between them.
    """
    schema = standalone(tool.parameters)
    arguments = _arguments(schema)
    lines = [mark(tool, example_body(tool)), in_its_result(tool.description)]
    needed = {tool.text_parameter, *schema.get("required", ())}
    said = [_argument(tool, name, about, name in needed) for name, about in arguments.items()]
    if said != [f"- {tool.text_parameter}: string"]:
        lines += map(in_its_result, _within(_MOST_TEXT, said))
    together = {keyword: value for keyword, value in schema.items() if keyword not in _SHOWN}
    if together not in ({}, {"additionalProperties": False}):
        lines.append(in_its_result(f"All arguments together: {in_words(together)}"))
    if tool.text_parameter is not None and len(arguments) > 1:
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
    """A JSON object of the arguments, in words."""
    # With the arguments in plain sight there is no need to copy the schema: this runs for every call that is read.
    names = _arguments(tool.parameters) or _arguments(standalone(tool.parameters))
    return "{" + ", ".join(_within(_MOST_NAMES, [f"{as_json(name)}: …" for name in names])) + "}" if names else ""


def _arguments(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of each argument by name. A name that is only required stands for anything."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    unsaid: dict[str, Any] = {name: {} for name in schema.get("required", ()) if name not in properties}
    return {name: about for name, about in properties.items() if about is not False} | unsaid


def _argument(tool: Tool, name: str, about: Mapping[str, Any], needed: bool) -> str:
    """A line on one argument; `about` is its schema, made `standalone`."""
    said = [in_words(about, bare=name == tool.text_parameter)]
    if not needed:
        said.append("optional")
        if "default" in about:
            said.append(f"default {cut(as_json(about['default']), _LONGEST)}")
    if about.get("description"):
        said.append(cut(about["description"], _LONGEST))
    return f"- {cut(name, _LONGEST)}: {', '.join(said)}"


def _within(most: int, lines: Sequence[str]) -> list[str]:
    """The first lines that have no more than `most` characters together; then "…" if that is not all."""
    ends = list(accumulate(map(len, lines)))
    fitting = bisect_right(ends, most)
    return [*lines[:fitting], *(["…"] if fitting < len(lines) else [])]
