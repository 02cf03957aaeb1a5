"""The tags of gem-llm: `<python>…</python>`, `<search>…</search>`."""

import re
from collections.abc import Mapping

from gem.tool.formats.base import DOUBLED, BadCall, ToolCall, malformed, without_thoughts
from gem.tool.formats.marked import MarkedFormat, misspelt, write_body
from gem.tool.tool import Tool

_TAG = re.compile(r"<(/?)[ \t]{0,4}([A-Za-z_][A-Za-z0-9_-]{0,63})(?:[ \t/][^<>\n]{0,200})?>")


class Tags(MarkedFormat):
    """A pair of tags with the tool's name around the body."""

    name = "tags"
    how = "one call, such as the ones below"

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        return tuple(f"</{name}>" for name in tools)

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        every = list(_TAG.finditer(without_thoughts(text)))
        tags = [tag for tag in every if tag[2] in tools]
        if not tags:
            closed = {tag[2] for tag in every if tag[1]}
            return misspelt((tag[2] for tag in every if tag[2] in closed and not tag[1]), tools)
        first, name = tags[0], tags[0][2]
        second = next((tag for tag in tags[1:] if tag[2] == name), None)
        if first[0] != f"<{name}>":
            why = f"{first[0]} stands where <{name}> should"
        elif second is None:
            why = f"<{name}> is never closed"
        elif second[0] != f"</{name}>":
            why = f"after <{name}> comes {second[0]}, where </{name}> should be"
        elif any(tag.start() > second.start() and not tag[1] for tag in tags):
            return DOUBLED
        else:
            return self.read_body(tools[name], text[first.end() : second.start()])
        return malformed(why, self.example(tools[name]))

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        body = write_body(tools[call.name], call)
        return self.mark(call.name, f"\n{body}\n" if "\n" in body else body)

    def mark(self, name: str, body: str) -> str:
        return f"<{name}>{body}</{name}>"
