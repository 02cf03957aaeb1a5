"""A dialogue in chat messages."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from gem.episode import FinishReason, Usage
from gem.errors import ConfigError, one_line
from gem.llm.answers import BROKEN_OFF, ChatReply
from gem.llm.messages import api_tools, completion_of, messages_of
from gem.vector.messages import SlotResult
from gem_interop.session.dialogue import Dialogue, shown

Message = dict[str, Any]
"""Message of a chat API: a `role`, its `content`, and `tool_calls` or a `tool_call_id`."""


class MessageDialogue(Dialogue):
    """One episode after another, with chat messages. Tools of the call format `openai` are those of the chat API."""

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools that a request has, as a chat API takes them; empty for tools that are called in text."""
        tools = api_tools(self._transcript, optional=False)
        return list(tools.functions) if tools else []

    @property
    def messages(self) -> list[Message]:
        """The conversation before the next reply."""
        return messages_of(self._transcript, api_tools(self._transcript, optional=False))

    def _say(self, message: str | Mapping[str, Any], finish_reason: FinishReason | None) -> str:
        if finish_reason in (*BROKEN_OFF, "content_filter"):
            raise ConfigError(
                f"a reply with the finish_reason {finish_reason!r} is not what the model wanted to say: "
                "ask for another, or call session.fail(error)"
            )
        try:
            given: Any = {"role": "assistant", "content": message} if isinstance(message, str) else dict(message)
            completion = completion_of(ChatReply(given, finish_reason or "unknown", None, Usage()), self.stop)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"a reply is a text, or an assistant's message as chat APIs write it in JSON, and not {shown(message)} "
                f"({one_line(error)})"
            ) from error
        if not self._transcript.turns:
            completion = structs.replace(completion, tools=api_tools(self._transcript, optional=False))
        return self._reply(completion)

    def _messages(self, result: SlotResult) -> list[Message] | None:
        return self.messages if self._hear(result) else None
