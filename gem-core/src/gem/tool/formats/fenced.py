"""Fenced code: a block whose language is the tool's name."""

import re
from collections.abc import Mapping

from gem.tool.formats.base import DOUBLED, BadCall, ToolCall, malformed, without_thoughts
from gem.tool.formats.marked import MarkedFormat, misspelt, write_body
from gem.tool.tool import Tool

_FENCE = "```"
_OPENING = re.compile(r"(?P<fence>(?<!`)`{3,}+|(?<!~)~{3,}+)(?P<name>[A-Za-z_][A-Za-z0-9_-]{0,63})(?P<rest>[^\n]*)")


class Fenced(MarkedFormat):
    """A fence that names the tool, the body, and the next fence of the same kind.

    A fence is three back-ticks. More of them, or three or more tildes, are read too: the call then ends at the next
    run of as many, so that the body may contain shorter fences.

    A block in another language is not a call, unless its name is nearly a tool's.
    """

    name = "fenced"
    how = "one such block"

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
        close = visible.find(fence, first.end())
        if first["rest"].strip():
            why = "is not alone on the rest of its line"
        elif close < 0:
            why = "is never closed"
        elif any(opening.start() <= close < opening.end() for opening in every):
            why = "is followed by another opening fence"
        elif any(opening.start() > close for opening in calls):
            return DOUBLED
        else:
            return self.read_body(tool, text[first.end() : close])
        return malformed(f"{fence}{tool.name} {why}", self.example(tool))

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        body, fence = write_body(tools[call.name], call), _FENCE
        while fence in body:
            fence += "`"
        return f"{fence}{call.name}\n{body}\n{fence}"

    def mark(self, name: str, body: str) -> str:
        return f"{_FENCE}{name}\n{body}\n{_FENCE}"
