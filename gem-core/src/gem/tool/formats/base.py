"""`CallFormat`: how an agent writes a call of a tool, and how it is shown the result."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gem.errors import ConfigError
from gem.tool.content import Content
from gem.tool.escaping import escape_marks
from gem.tool.tool import Tool

Problem = Literal["malformed", "unknown", "doubled", "arguments", "over_budget"]
"""Why a call is not carried out."""

_OPEN, _CLOSE = "<think>", "</think>"
_THOUGHTS = re.compile(f"{_OPEN}.*?{_CLOSE}", re.DOTALL)


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool: its `name`, and its `arguments` by name."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class BadCall:
    """A text that was meant as a call, and the `problem` why it is not carried out."""

    problem: Problem
    message: str
    """The answer to the agent: what was wrong, and how to write a call. Marks in its quotes are escaped."""


class CallFormat(ABC):
    """A way to write calls and results. It has no state; one object serves all envs.

    A call inside `<think>…</think>` is not a call, unless the thoughts are never closed.
    """

    name: str
    """The name for `format=`."""
    tools_info: Literal["tools", "optional_tools"] | None = None
    """Where a chat API can carry tools and calls in fields of their own: the name under which the `info` of a reset has
    the description of each tool as these APIs take it. `tools` have to be handed over, `optional_tools` may be; what
    the observation says about them is `tools_text`."""

    def for_tools(self, tools: Mapping[str, Tool]) -> "CallFormat":
        """The format as it is used for these tools."""
        return self

    def several(self) -> "CallFormat":
        """The format with several calls in a reply. Raises `ConfigError` if it allows only one."""
        raise ConfigError(
            f"in the format {self.name!r} a reply has one call, so parallel=True is of no use: "
            "choose the format 'auto', 'hermes' or 'openai'"
        )

    def of(self, text: str) -> "CallFormat":
        """The format that a reply is in, which is also that of the answer, where there is a choice."""
        return self

    @abstractmethod
    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        """The texts that end a call. A policy may stop after any of them; the text is part of the reply."""

    @abstractmethod
    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        """The call in a reply, why it cannot be carried out, or None if nothing was meant as a call.

        Text after the call is ignored. It takes time linear in the text and never raises.
        """

    def read_each(self, text: str, tools: Mapping[str, Tool]) -> Sequence[ToolCall | BadCall]:
        """The calls in a reply, where the format allows for several; by default what `read` finds."""
        found = self.read(text, tools)
        return () if found is None else (found,)

    @abstractmethod
    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        """A reply that is this call and nothing else: `read` returns the call."""

    @abstractmethod
    def describe(self, tools: Mapping[str, Tool]) -> str:
        """The text in the first observation that describes the tools and how to call one."""

    @abstractmethod
    def frame(self, content: Content) -> Content:
        """`content` marked as the answer to a call. Marks in text from outside are to be escaped before."""


def without_thoughts(text: str) -> str:
    """`text` with spaces in place of closed thoughts, so that nothing else moves.

    The prompt may have opened the thoughts, so a first `</think>` without `<think>` ends thoughts from the start.

    >>> without_thoughts("<think>a</think>b")
    '                b'
    """
    first, end = text.find(_CLOSE), text.rfind(_CLOSE) + len(_CLOSE)
    if first < 0:
        return text
    start = 0 if 0 <= text.find(_OPEN) < first else first + len(_CLOSE)
    # Up to the last closing tag every opening one has its closing one, so this takes linear time.
    return " " * start + _THOUGHTS.sub(lambda found: " " * len(found[0]), text[start:end]) + text[end:]


def unknown(name: str, known: Mapping[str, Tool], hint: str) -> BadCall:
    """The answer to a call of a tool that does not exist."""
    return BadCall("unknown", f"There is no tool {escape_marks(repr(name))}.{hint} The tools are: {', '.join(known)}.")


def malformed(why: str, example: str) -> BadCall:
    """The answer to something that looks like a call and cannot be read."""
    return BadCall("malformed", f"I could not read your call: {why}. Write it as {example}")


DOUBLED = BadCall("doubled", "Your reply has more than one call, so none was carried out. Make one, and stop there.")
"""The answer to more than one call in a reply."""
