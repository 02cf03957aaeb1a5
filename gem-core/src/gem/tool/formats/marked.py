"""Formats with a text or a JSON object between two marks, as the body of a call."""

import difflib
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from textwrap import dedent
from typing import Any

from gem.errors import did_you_mean
from gem.tool.content import Content, wrap
from gem.tool.escaping import escape_marks
from gem.tool.formats.base import BadCall, CallFormat, ToolCall, malformed, unknown
from gem.tool.formats.compact_schema import as_json, compact
from gem.tool.formats.json_call import read_object
from gem.tool.tool import Tool

_NEAR = 0.75
"""The least similarity to a tool's name of a mark that counts as a typing error. Most marks are not calls."""
_RESERVED = frozenset({"answer", "think", "result"})
"""Marks that never mean a tool, however similar its name is."""
_MOST_NAMES = 2000
"""Characters of an example."""


class MarkedFormat(CallFormat):
    """A call is a body between two marks that name the tool.

    The body is the text of the tool's one required argument, if that is a string (`Tool.text_parameter`), or a JSON
    object of the arguments.
    """

    how: str
    """Instructions to make a call, for the agent."""

    @abstractmethod
    def mark(self, name: str, body: str) -> str:
        """`body` between the marks of the tool `name`."""

    def describe(self, tools: Mapping[str, Tool]) -> str:
        described = "\n\n".join(map(self._describe, tools.values()))
        return (
            f"You can call {'a tool' if len(tools) == 1 else 'tools'}. To do so, end your reply with {self.how}; you "
            f"are then told the result.\n\n{described}"
        )

    def frame(self, content: Content) -> Content:
        return wrap("<result>\n", content, "\n</result>")

    def example(self, tool: Tool) -> str:
        """A call with names in place of the arguments' values."""
        return self.mark(tool.name, escape_marks(tool.text_parameter or _object(tool)))

    def _describe(self, tool: Tool) -> str:
        """An example, what the tool does, and the schema of its arguments unless that adds nothing."""
        lines = [self.example(tool), escape_marks(tool.description)]
        schema = compact(tool.parameters)
        schema.pop("type", None)
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
        any_text = {"properties": {tool.text_parameter: {"type": "string"}}, "required": [tool.text_parameter]}
        if schema not in ({}, {"properties": {}}, any_text):
            lines.append(escape_marks(f"Arguments: {as_json(schema)}"))
        if tool.text_parameter is not None and len(tool.parameters["properties"]) > 1:
            lines += ["Or, to give other arguments too:", self.mark(tool.name, escape_marks(_object(tool)))]
        return "\n".join(lines)

    def read_body(self, tool: Tool, body: str) -> ToolCall | BadCall:
        """The call with this body."""
        parameter = tool.text_parameter
        if parameter is not None and not _is_object(tool, parameter, body):
            text = dedent(body).strip()
            if text:
                return ToolCall(tool.name, {parameter: text})
            why = f"there is nothing in it, and {tool.name} needs its {escape_marks(parameter)}"
            return malformed(why, self.example(tool))
        try:
            return ToolCall(tool.name, read_object(body) if body.strip() else {})
        except ValueError as error:
            why = f"what stands in it is no JSON object of the arguments of {tool.name}: {error}"
            return malformed(why, self.example(tool))


def write_body(tool: Tool, call: ToolCall) -> str:
    """The body of `call`."""
    parameter = tool.text_parameter or ""
    text = call.arguments.get(parameter) if len(call.arguments) == 1 else None
    if isinstance(text, str) and not _is_object(tool, parameter, text):
        return text
    return json.dumps(dict(call.arguments), ensure_ascii=False)


def misspelt(marks: Iterable[str], tools: Mapping[str, Tool]) -> BadCall | None:
    """The answer to the first of `marks` that was probably meant as the name of a tool."""
    for mark in dict.fromkeys(marks):
        if mark not in _RESERVED and difflib.get_close_matches(mark.lower(), [t.lower() for t in tools], 1, _NEAR):
            return unknown(mark, tools, did_you_mean(mark, tools))
    return None


def _is_object(tool: Tool, parameter: str, body: str) -> bool:
    """True if `body` gives arguments by name, to a tool that has more than the one that text stands for."""
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
