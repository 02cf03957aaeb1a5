"""Hermes and Qwen: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`."""

import json
from collections.abc import Mapping

from gem.tool.content import Content, wrap
from gem.tool.formats.base import DOUBLED, BadCall, CallFormat, ToolCall, malformed, without_thoughts
from gem.tool.formats.json_call import listed, read_call, read_object
from gem.tool.tool import Tool

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_EXAMPLE = '<tool_call>{"name": "NAME", "arguments": {…}}</tool_call>'


class Hermes(CallFormat):
    """One JSON object between `<tool_call>` tags, as Hermes and Qwen models are trained to write.

    Source: the function-calling format of NousResearch's Hermes 2 Pro, which the chat template of Qwen2.5 and Qwen3
    uses too.
    """

    name = "hermes"

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        return (_CLOSE,)

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        visible = without_thoughts(text)
        start, close = visible.find(_OPEN), visible.find(_CLOSE)
        if start < 0 and close < 0:
            return None
        if start < 0 or 0 <= close < start:
            return malformed(f"it has {_CLOSE} without {_OPEN} before it", _EXAMPLE)
        if close < 0:
            return malformed(f"{_OPEN} is never closed", _EXAMPLE)
        inside = start + len(_OPEN)
        if _OPEN in visible[inside:close]:
            return malformed(f"{_OPEN} is opened again before it is closed", _EXAMPLE)
        if _OPEN in visible[close:]:
            return DOUBLED
        try:
            call = read_object(text[inside:close])
        except ValueError as error:
            return malformed(f"what stands between the tags is no JSON object: {error}", _EXAMPLE)
        return read_call(call, tools, _EXAMPLE)

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        body = json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
        return f"{_OPEN}\n{body}\n{_CLOSE}"

    def describe(self, tools: Mapping[str, Tool]) -> str:
        return (
            f"You can call these tools:\n<tools>\n{listed(tools)}\n</tools>\n"
            "To call one, end your reply with the tool's name and arguments as JSON between these tags, once:\n"
            f'{_OPEN}\n{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}\n{_CLOSE}\n'
            "You are then told what it answered, between <tool_response> tags."
        )

    def frame(self, content: Content) -> Content:
        return wrap("<tool_response>\n", content, "\n</tool_response>")
