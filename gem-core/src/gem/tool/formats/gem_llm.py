"""The calls that gem-llm's own tools read: tags, and for code a fence too."""

from collections.abc import Mapping

from gem.tool.formats.base import DOUBLED, BadCall, ToolCall
from gem.tool.formats.fenced import Fenced
from gem.tool.formats.tags import Tags
from gem.tool.tool import Tool

_fenced = Fenced()


class GemLlm(Tags):
    """Tags, or a fenced block whose language is the tool's name. The description shows tags only.

    A policy stops at the end of a tag. It does not stop at a fence, because most fences are not calls.
    """

    name = "gem-llm"

    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        tagged, fenced = super().read(text, tools), _fenced.read(text, tools)
        if isinstance(tagged, ToolCall) and isinstance(fenced, ToolCall):
            return DOUBLED
        return tagged if isinstance(tagged, ToolCall) or fenced is None else fenced
