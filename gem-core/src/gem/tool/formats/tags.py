"""GEM's tags: `<python>…</python>`, `<search>…</search>`."""

import re
from collections.abc import Mapping

from gem.tool.content import Content, wrap
from gem.tool.formats.base import DOUBLED, BadCall, CallFormat, ToolCall, malformed, without_thoughts
from gem.tool.formats.text_call import example_body, explain, misspelt, read_body, write_body
from gem.tool.tool import Tool

_TAG = re.compile(r"<(/?)[ \t]{0,4}([A-Za-z_][A-Za-z0-9_-]{0,63})(?:[ \t/][^<>\n]{0,200})?>")


class Tags(CallFormat):
    """A tag with the tool's name around its text, or around a JSON object of its arguments.

    Text stands for the tool's one required argument, if that is a string (`Tool.text_parameter`).
    """

    name = "tags"

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        return tuple(f"</{name}>" for name in tools)

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        visible = without_thoughts(text)
        every = list(_TAG.finditer(visible))
        tags = [tag for tag in every if tag[2] in tools]
        if not tags:
            closed = {tag[2] for tag in every if tag[1]}
            return misspelt((tag[2] for tag in every if tag[2] in closed and not tag[1]), tools)
        first, name = tags[0], tags[0][2]
        example = _example(tools[name])
        if first[0] != f"<{name}>":
            return malformed(f"{first[0]} stands where <{name}> should", example)
        second = next((tag for tag in tags[1:] if tag[2] == name), None)
        if second is None:
            return malformed(f"<{name}> is never closed", example)
        if second[0] != f"</{name}>":
            return malformed(f"after <{name}> comes {second[0]}, where </{name}> should be", example)
        if any(tag.start() > second.start() and not tag[1] for tag in tags):
            return DOUBLED
        return read_body(tools[name], text[first.end() : second.start()], second.end(), example)

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        body = write_body(tools[call.name], call)
        gap = "\n" if "\n" in body else ""
        return f"<{call.name}>{gap}{body}{gap}</{call.name}>"

    def describe(self, tools: Mapping[str, Tool]) -> str:
        calls = "\n\n".join(explain(tool, _mark) for tool in tools.values())
        return (
            f"You can call {'a tool' if len(tools) == 1 else 'tools'}. To do so, end your reply with one call, such as "
            f"the ones below; you are then told the result.\n\n{calls}"
        )

    def frame(self, content: Content) -> Content:
        return wrap("<result>\n", content, "\n</result>")


def _example(tool: Tool) -> str:
    return _mark(tool, example_body(tool))


def _mark(tool: Tool, body: str) -> str:
    return f"<{tool.name}>{body}</{tool.name}>"
