"""Auto: calls of a chat API where the policy's has tools, and text elsewhere."""

from collections.abc import Mapping, Sequence

from gem.tool.content import Content
from gem.tool.formats.base import BadCall, CallFormat, ToolCall
from gem.tool.formats.hermes import Hermes
from gem.tool.formats.openai import OpenAI
from gem.tool.formats.tags import Tags
from gem.tool.tool import Tool

_API = OpenAI()


class Auto(CallFormat):
    """The messages of a chat API with tools, or a format in text, which the observation describes.

    A policy that hands the tools to its API leaves the description out (`gem.llm.messages_of`), so that a conversation
    has one format. In text, calls look like `tags` where each tool takes one text or nothing, and like `hermes` where
    one needs arguments by name, or if a reply may have several calls.
    """

    name = "auto"
    tools_info = "optional_tools"

    def __init__(self, text: CallFormat | None = None) -> None:
        self._text, self._chosen = text or Tags(), text is not None

    def for_tools(self, tools: Mapping[str, Tool]) -> CallFormat:
        by_name = any(tool.parameters.get("properties") and tool.text_parameter is None for tool in tools.values())
        return self if self._chosen else Auto(Hermes() if by_name else Tags())

    def several(self) -> CallFormat:
        return Auto(Hermes(parallel=True))

    def of(self, text: str) -> CallFormat:
        return _API if _API.is_message(text) else self._text

    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        return self._text.stops(tools)

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        return self.of(text).read(text, tools)

    def read_each(self, text: str, tools: Mapping[str, Tool]) -> Sequence[ToolCall | BadCall]:
        return self.of(text).read_each(text, tools)

    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        return self._text.write(call, tools)

    def describe(self, tools: Mapping[str, Tool]) -> str:
        return self._text.describe(tools)

    def frame(self, content: Content) -> Content:
        return self._text.frame(content)
