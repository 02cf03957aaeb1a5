"""OpenAI: an assistant's message with `tool_calls`, as JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gem.tool.content import Content
from gem.tool.formats.base import DOUBLED, BadCall, CallFormat, ToolCall, malformed
from gem.tool.formats.json_call import listed, read_call, read_object
from gem.tool.tool import Tool

_MESSAGE = re.compile(r'\s*\{[^{}\[\]]*"tool_calls"\s*:')
_EXAMPLE = '{"tool_calls": [{"type": "function", "function": {"name": "NAME", "arguments": "{…}"}}]}'
_BEFORE, _AFTER = "You can call these tools, several in a reply:\n", f"\nTo call them, reply with {_EXAMPLE} alone."
_DESCRIBED = re.compile(rf"{re.escape(_BEFORE)}(\{{.*\}}(?:\n\{{.*\}})*){re.escape(_AFTER)}")


class OpenAI(CallFormat):
    """The message of a chat API in which the model called tools: `{"content": …, "tool_calls": [{…}]}`.

    A policy that asks such an API returns the message as JSON if it has `tool_calls`, and else its content. The API
    itself ends the reply after the calls, so there is nothing to stop at. All calls of a message are carried out.
    """

    name = "openai"
    tools_info = "tools"

    def is_message(self, text: str) -> bool:
        """True for a reply that is a message with `tool_calls`, well-formed or not."""
        return _MESSAGE.match(text) is not None

    def several(self) -> CallFormat:
        return self  # it always allows them

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        return ()

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        calls = self.read_each(text, tools)
        return DOUBLED if len(calls) > 1 else calls[0] if calls else None

    def read_each(self, text: str, tools: Mapping[str, Tool]) -> Sequence[ToolCall | BadCall]:
        if not self.is_message(text):
            return ()
        try:
            calls = read_object(text)["tool_calls"]
        except (ValueError, KeyError) as error:
            return (malformed(f"the message is no JSON object: {error}", _EXAMPLE),)
        if calls is None:
            return ()
        if not isinstance(calls, list):
            return (malformed('"tool_calls" is no list', _EXAMPLE),)
        return [_read(call, tools) for call in cast("list[object]", calls)]

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        function = {"name": call.name, "arguments": arguments}
        message = {"content": None, "tool_calls": [{"id": "call_0", "type": "function", "function": function}]}
        return json.dumps(message, ensure_ascii=False)

    def describe(self, tools: Mapping[str, Tool]) -> str:
        return f"{_BEFORE}{listed(tools)}{_AFTER}"

    def frame(self, content: Content) -> Content:
        return content


def described_in(text: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The tools that a first observation describes, and the texts in it that `OpenAI.describe` wrote.

    Marks in descriptions are escaped, as the agent was shown them.
    """
    tools: list[dict[str, Any]] = []
    texts: list[str] = []
    for found in _DESCRIBED.finditer(text):
        try:
            tools += [json.loads(line) for line in found[1].split("\n")]
        except (ValueError, RecursionError):  # somebody else's text
            continue
        texts.append(found[0])
    return tools, texts


def _read(call: object, tools: Mapping[str, Tool]) -> ToolCall | BadCall:
    function = cast("dict[str, object]", call).get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return malformed('the call has no "function" that is an object', _EXAMPLE)
    return read_call(cast("dict[str, object]", function), tools, _EXAMPLE)
