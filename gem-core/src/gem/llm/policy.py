"""The policy `openai`: replies of a chat API."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from gem.core import ChatMessage
from gem.errors import ConfigError, GemError
from gem.failure import Failure
from gem.llm.client import OPENAI, ChatClient, ChatReply
from gem.llm.errors import AccessRefused, ContextExceeded
from gem.rollout.function_policy import FunctionPolicy
from gem.rollout.transcript import Completion, FinishReason

KEY_VARIABLE = "OPENAI_API_KEY"
MOST_STOPS = 4
"""Stop texts that OpenAI's API takes."""


class ChatPolicy(FunctionPolicy):
    """Asks a chat API with OpenAI's protocol for each reply: OpenAI's, vLLM's, SGLang's, Ollama's and others.

    A request that fails in spite of retries fails that one episode; an error that every request would meet, such as a
    wrong key, ends the rollout. A conversation that is longer than the model's context truncates its episode.

    Where the reply stopped at the end of a tool call, that text, which these APIs leave out, is put back.

    Args:
        model: the name of the model at the server.
        base_url: the address before `/chat/completions`.
        key_variable: the environment variable that has the key; a setting would stand in recordings.
        concurrency: most requests at once.
        timeout: seconds for one request.
        retries: requests after the first, for one reply.
        system: a system message before the conversation.
        temperature: of sampling; None leaves it to the server.
        top_p: of sampling.
        max_tokens: the longest reply.
        extra: further fields of the request, such as `{"reasoning_effort": "low"}`.

    Raises:
        ConfigError: an argument is invalid.
        MissingExtra: aiohttp is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        key_variable: str = KEY_VARIABLE,
        concurrency: int = 64,
        timeout: float = 600.0,
        retries: int = 8,
        system: str | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if not model:
            raise ConfigError("model is the name of a model at the server, not empty")
        given = {"temperature": temperature, "top_p": top_p, "max_tokens": max_tokens}
        self._fields = {"model": model, **{name: value for name, value in given.items() if value is not None}}
        self._fields |= extra or {}
        self._system = system
        self._fatal: GemError | None = None
        self.client = ChatClient(
            base_url,
            api_key=os.environ.get(key_variable),
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
        )
        """Makes the requests, and counts them and their tokens."""
        # The client limits requests; a call that waits to be repeated must not keep another from being made.
        super().__init__(self._reply, at_once=10**6, at_end=self.client.close)

    async def _reply(self, messages: list[ChatMessage], stop: Sequence[str]) -> Completion:
        asked: list[Any] = [*messages]
        if self._system is not None:
            asked.insert(0, {"role": "system", "content": self._system})
        body = {**self._fields, "messages": asked}
        if stop:
            body["stop"] = list(stop[:MOST_STOPS])
        try:
            return completion_of(await self.client.chat(body), stop)
        except ContextExceeded:
            return Completion("", finish_reason="context")
        except AccessRefused as error:
            self._fatal = error
            raise

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion | Failure]:
        replies = super().recv(min_results, timeout)
        if self._fatal is not None:
            raise self._fatal
        return replies


def completion_of(reply: ChatReply, stop: Sequence[str]) -> Completion:
    """A reply of a chat API as a completion.

    A message with tool calls becomes its JSON, as the call format `openai` reads it.
    """
    message = reply.message
    if message.get("tool_calls"):
        text = json.dumps({"content": message.get("content"), "tool_calls": message["tool_calls"]}, ensure_ascii=False)
    else:
        text = str(message.get("content") or "")
        if reply.finish_reason == "stop":
            text += reply.stop_reason or _ending(text, stop)
    reason: FinishReason = "length" if reply.finish_reason == "length" else "stop"
    return Completion(text, finish_reason=reason, usage=reply.usage, reasoning=reasoning_of(message))


def reasoning_of(message: Mapping[str, Any]) -> str:
    """What the model wrote before its reply, where the server keeps the two apart."""
    return next((text for name in ("reasoning_content", "reasoning") if isinstance(text := message.get(name), str)), "")


def _ending(text: str, stop: Sequence[str]) -> str:
    """The stop text that must have ended `text`: the one of a tag that is open, or of a fence; `""` if none is."""
    for each in stop:
        if each.startswith("</") and text.count(f"<{each[2:]}") > text.count(each):
            return each
        if each.strip().startswith("```") and sum(line.startswith("```") for line in text.splitlines()) % 2:
            return each
    return ""
