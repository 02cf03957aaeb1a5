"""What a call format is: how a call of a tool looks in what the agent says."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gem.marks import in_its_result
from gem.tool.content import Content, map_texts
from gem.tool.tool import Tool

Problem = Literal["malformed", "unknown", "doubled", "arguments", "over_budget"]
"""Why a call is not carried out."""

_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool: its name, and its arguments by name."""

    name: str
    arguments: Mapping[str, Any]
    end: int | None = field(default=None, compare=False)
    """Where it ends in what the agent said. What comes after it is nobody's business."""


@dataclass(frozen=True)
class BadCall:
    """Something that was meant as a call, and why it is none."""

    problem: Problem
    message: str
    """For the agent: what was wrong, and how to do it. Marks in it are ours: in what it quotes they are spelt out."""


class CallFormat(ABC):
    """How calls look. A format keeps no state; one object serves all envs.

    Thoughts are skipped: a call inside `<think>…</think>` is none, unless the thoughts were never closed.
    """

    name: str

    @abstractmethod
    def stops(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        """The texts with which a call ends. A policy may stop after any of them; the text belongs to the reply."""

    @abstractmethod
    def read(self, text: str, tools: Mapping[str, Tool]) -> ToolCall | BadCall | None:
        """The call in a reply, the reason why it is none, or None where nothing was meant as a call.

        Takes time linear in the text and never raises, whatever a model says.
        """

    @abstractmethod
    def write(self, call: ToolCall, tools: Mapping[str, Tool]) -> str:
        """A reply that makes this call, and nothing else: `read` gives the call back."""

    @abstractmethod
    def describe(self, tools: Mapping[str, Tool]) -> str:
        """What the agent is told in the first observation: the tools, and how to call one."""

    @abstractmethod
    def frame(self, content: Content) -> Content:
        """The answer to a call, told from what the env says. What it says is ours, and may have marks in it."""

    def format_result(self, content: Content) -> Content:
        """How what a tool answered is put to the agent: what it says passes for no mark of ours, see `gem.marks`."""
        return self.frame(map_texts(content, in_its_result))


def without_thoughts(text: str) -> str:
    """`text` with closed thoughts blanked, everything else where it was.

    Thoughts may have been opened by the prompt, so a first `</think>` without `<think>` closes one from the start.

    >>> without_thoughts("<think>a</think>b")
    '                b'
    """
    pieces: list[str] = []
    done = 0
    close = text.find(_CLOSE)
    start = text.find(_OPEN)
    if close >= 0 and not 0 <= start < close:
        start = 0
    while start >= 0 and close >= 0:
        end = close + len(_CLOSE)
        pieces += (text[done:start], " " * (end - start))
        done = end
        start = text.find(_OPEN, done)
        close = text.find(_CLOSE, start) if start >= 0 else -1
    return "".join(pieces) + text[done:]


def unknown(name: str, known: Mapping[str, Tool], hint: str) -> BadCall:
    """The answer to a call of a tool that is not there."""
    return BadCall("unknown", f"There is no tool {in_its_result(repr(name))}.{hint} The tools are: {', '.join(known)}.")


def malformed(why: str, example: str) -> BadCall:
    """The answer to something that reads like a call, and is none."""
    return BadCall("malformed", f"I could not read your call: {why}. Write it as {example}")


DOUBLED = BadCall("doubled", "Your reply has more than one call, so none was carried out. Make one, and stop there.")
"""The answer to more than one call in a reply."""
