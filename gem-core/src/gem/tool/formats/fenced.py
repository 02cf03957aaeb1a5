"""Fenced code: a block whose language is the tool's name."""

import re
from collections.abc import Mapping

from gem.tool.content import Content, wrap
from gem.tool.formats.base import DOUBLED, BadCall, CallFormat, ToolCall, malformed, without_thoughts
from gem.tool.formats.text_call import example_body, explain, misspelt, read_body, write_body
from gem.tool.tool import Tool

_FENCE = "```"
_OPENING = re.compile(r"(?P<fence>(?<!`)`{3,}+|(?<!~)~{3,}+)(?P<name>[A-Za-z_][A-Za-z0-9_-]{0,63})(?P<rest>[^\n]*)")


class Fenced(CallFormat):
    """A fence that names the tool, the text or the JSON of its arguments, and the next fence of the same kind.

    A fence is three back-ticks. More of them, or three or more tildes, are read too: what ends the call is then the
    next run of as many, so that what stands between may hold shorter fences.

    A block in another language is none of this format's business, unless its name is nearly a tool's.
    """

    name = "fenced"

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        # With the line break after it, or an opening fence would match.
        return ("\n```\n",)

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        visible = without_thoughts(text)
        every = list(_OPENING.finditer(visible))
        calls = [opening for opening in every if opening["name"] in tools]
        if not calls:
            return misspelt((opening["name"] for opening in every), tools)
        first = calls[0]
        tool, fence = tools[first["name"]], first["fence"]
        example = _example(tool)
        if first["rest"].strip():
            return malformed(f"{fence}{tool.name} is not alone on the rest of its line", example)
        close = visible.find(fence, first.end())
        if close < 0:
            return malformed(f"{fence}{tool.name} is never closed", example)
        if any(opening.start() <= close < opening.end() for opening in every):
            return malformed(f"{fence}{tool.name} is followed by another opening fence", example)
        if any(opening.start() > close for opening in calls):
            return DOUBLED
        end = close + len(fence)
        while visible.startswith(fence[0], end):
            end += 1
        return read_body(tool, text[first.end() : close], end, example)

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        body, fence = write_body(tools[call.name], call), _FENCE
        while fence in body:
            fence += "`"
        return f"{fence}{call.name}\n{body}\n{fence}"

    def describe(self, tools: Mapping[str, Tool]) -> str:
        calls = "\n\n".join(explain(tool, _mark) for tool in tools.values())
        return (
            f"You can call {'a tool' if len(tools) == 1 else 'tools'}. To do so, end your reply with one such block; "
            f"you are then told the result.\n\n{calls}"
        )

    def frame(self, content: Content) -> Content:
        return wrap("<result>\n", content, "\n</result>")


def _example(tool: Tool) -> str:
    return _mark(tool, example_body(tool))


def _mark(tool: Tool, body: str) -> str:
    return f"{_FENCE}{tool.name}\n{body}\n{_FENCE}"
