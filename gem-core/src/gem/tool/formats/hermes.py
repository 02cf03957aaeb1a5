"""Hermes and Qwen: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`."""

import json
from collections.abc import Mapping, Sequence

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

    Args:
        parallel: a reply may have several calls. It then ends where the model ends it: no text says which is the last.
    """

    name = "hermes"

    def __init__(self, *, parallel: bool = False) -> None:
        self._parallel = parallel

    def several(self) -> CallFormat:
        return Hermes(parallel=True)

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        return () if self._parallel else (_CLOSE,)

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
        return _read_body(text[inside:close], tools)

    def read_each(self, text: str, tools: Mapping[str, Tool]) -> Sequence[ToolCall | BadCall]:
        visible = without_thoughts(text) if self._parallel else ""
        first = visible.find(_OPEN)
        # Each piece begins behind an opening tag, and ends with what stands between this call and the next.
        pieces = visible[first:].split(_OPEN)[1:] if first >= 0 else []
        if len(pieces) < 2 or 0 <= visible.find(_CLOSE) < first:
            return super().read_each(text, tools)
        calls: list[ToolCall | BadCall] = []
        start = first
        for piece in pieces:
            start += len(_OPEN)
            close = piece.find(_CLOSE)
            if close < 0:
                calls.append(malformed(f"{_OPEN} is not closed before the next one, or the end", _EXAMPLE))
            else:
                calls.append(_read_body(text[start : start + close], tools))
            start += len(piece)
        return calls

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        body = json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
        return f"{_OPEN}\n{body}\n{_CLOSE}"

    def describe(self, tools: Mapping[str, Tool]) -> str:
        once = "once" if not self._parallel else "once for each call: calls in one reply are carried out at once"
        answers = "what it answered" if not self._parallel else "what each answered, in the same order"
        return (
            f"You can call these tools:\n<tools>\n{listed(tools)}\n</tools>\n"
            f"To call one, end your reply with the tool's name and arguments as JSON between these tags, {once}:\n"
            f'{_OPEN}\n{{"name": "NAME", "arguments": {{"ARGUMENT": "VALUE"}}}}\n{_CLOSE}\n'
            f"You are then told {answers}, between <tool_response> tags."
        )

    def frame(self, content: Content) -> Content:
        return wrap("<tool_response>\n", content, "\n</tool_response>")


def _read_body(body: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall:
    try:
        call = read_object(body)
    except ValueError as error:
        return malformed(f"what stands between the tags is no JSON object: {error}", _EXAMPLE)
    return read_call(call, tools, _EXAMPLE)
