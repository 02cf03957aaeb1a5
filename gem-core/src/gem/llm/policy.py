"""The policy `openai`: replies of a chat API."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Raw, structs

from gem.episode import ApiTools, Completion
from gem.errors import ConfigError, Failure, GemError
from gem.http.client import encoded
from gem.llm.answers import ChatReply
from gem.llm.client import CONCURRENCY, OPENAI, ChatClient
from gem.llm.errors import AccessRefused, ContextExceeded, ToolsRefused
from gem.llm.messages import ChatHistory, api_tools, completion_of, joined_system
from gem.rollout.function_policy import FunctionPolicy
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript

KEY_VARIABLE = "OPENAI_API_KEY"
MOST_STOPS = 4
"""Stop texts that OpenAI's API takes."""
_log = logging.getLogger("gem.llm")
_LENGTHS = frozenset({"max_tokens", "max_completion_tokens"})


class _Sent:
    """The messages that a policy has sent of a conversation, as JSON: each is encoded once, and not in each request."""

    def __init__(self, policy: Policy, system: str, tools: ApiTools | None, *, reasoning: bool) -> None:
        self.policy, self.history = policy, ChatHistory(tools, reasoning=reasoning)
        self.tools = None if tools is None else _raw(tools.functions)
        self._earlier = [_raw({"role": "system", "content": system})] if system else []

    def messages(self, transcript: Transcript) -> list[Raw]:
        """All of the conversation."""
        for turn in transcript.turns[self.history.turns :]:
            self._earlier += map(_raw, self.history.add(turn))
        return [*self._earlier, *map(_raw, self.history.asked(transcript.observation))]


def _raw(value: object) -> Raw:
    return Raw(encoded(value))


class ChatPolicy(FunctionPolicy):
    """Asks a chat API with OpenAI's protocol for each reply: OpenAI's, vLLM's, SGLang's, Ollama's and others.

    A request that fails in spite of retries fails that one episode; an error that every request would meet, such as a
    wrong key, ends the rollout. A conversation that is longer than the model's context truncates its episode.

    Tools whose call format is `auto` or `openai` are handed to the API, and calls and results have its own form;
    several calls in a message are carried out. A server that refuses the tools of the first request gets those of
    `auto` as text, in all conversations. Where such a reply stopped at the end of a call, that text, which these APIs
    leave out, is put back.

    Args:
        model: the name of the model at the server.
        base_url: the address before `/chat/completions`.
        key_variable: the environment variable that has the key; a setting would stand in recordings.
        concurrency: most requests at once.
        timeout: seconds for one request.
        retries: requests after the first, for one reply.
        system: a system message before the conversation, and before that of the env.
        temperature: of sampling; None leaves it to the server.
        top_p: of sampling.
        max_tokens: the longest reply, in tokens.
        max_completion_tokens: the same by its newer name, which OpenAI's reasoning models ask for.
        stop: whether to name the texts that end a tool call (`info["stop"]`); some reasoning models refuse them.
        logprobs: ask for the log-probabilities of the sampled tokens; they are recorded as `tokens`.
        return_reasoning: send the reasoning of earlier replies back, as some models ask that reason between tool calls.
        extra: further fields of the request, such as `{"reasoning_effort": "low"}`.

    Raises:
        ConfigError: an argument is invalid, or the key of OpenAI's API is missing.
        MissingExtra: aiohttp is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        key_variable: str = KEY_VARIABLE,
        concurrency: int = CONCURRENCY,
        timeout: float = 600.0,
        retries: int = 8,
        system: str | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        max_completion_tokens: int | None = None,
        stop: bool = True,
        logprobs: bool = False,
        return_reasoning: bool = False,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if not model:
            raise ConfigError("model is the name of a model at the server, not empty")
        if base_url == OPENAI and not os.environ.get(key_variable):
            raise ConfigError(
                f"set the variable {key_variable}, or base_url to the address of another server "
                "(`gemx eval --base-url http://localhost:8000/v1`)"
            )
        given = {
            "temperature": temperature,
            "top_p": top_p,
            "max_tokens": max_tokens,
            "max_completion_tokens": max_completion_tokens,
            "logprobs": logprobs or None,
        }
        fields = {
            "model": model,
            **{name: value for name, value in given.items() if value is not None},
            **(extra or {}),
        }
        self._fields: dict[str, Any] = {name: _raw(value) for name, value in fields.items()}
        self._system = system
        self._stop, self._return_reasoning = stop, return_reasoning
        self._in_text = False
        """Whether new conversations call optional tools in text, because the server has refused tools."""
        self._fatal: GemError | None = None
        self.client = ChatClient(
            base_url, api_key=os.environ.get(key_variable), concurrency=concurrency, timeout=timeout, retries=retries
        )
        """Makes the requests, and counts them and their tokens."""
        # The client limits requests; a call that waits to be repeated must not keep another from being made.
        super().__init__(self._reply, at_once=10**6, at_end=self.client.close)

    async def ask(self, messages: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]) -> ChatReply:
        """The reply to any messages, with these settings and further fields; for one event loop, which is not that of
        `send` and `recv`. For the errors see `ChatClient.chat`."""
        if self._system:
            first: Any = messages[0].get("content") if messages[0].get("role") == "system" else ""
            system = joined_system(self._system, str(first))
            messages = [{"role": "system", "content": system}, *messages[bool(first) :]]
        return await self.client.chat({**self._fields, **fields, "messages": messages})

    async def _reply(self, transcript: Transcript) -> Completion:
        tools = api_tools(transcript, optional=not self._in_text)
        try:
            try:
                completion = await self._ask(transcript, tools)
            except ToolsRefused as error:
                if transcript.turns or api_tools(transcript, optional=False):
                    raise
                if not self._in_text:
                    _log.warning("Tools are called in text, because the server takes none; it says: %s", error.said)
                self._in_text, tools = True, None
                completion = await self._ask(transcript, None)
        except ContextExceeded as error:
            if not transcript.turns and "max_tokens" in str(error) and self._fields.keys() & _LENGTHS:
                self._fatal = AccessRefused(f"the first observation leaves less room: lower max_tokens. {error}")
                raise self._fatal from None
            return Completion("", finish_reason="context")
        except AccessRefused as error:
            self._fatal = error
            raise
        return completion if transcript.turns or tools is None else structs.replace(completion, tools=tools)

    async def _ask(self, transcript: Transcript, tools: ApiTools | None) -> Completion:
        sent = transcript.kept
        if not isinstance(sent, _Sent) or sent.policy is not self or sent.history.tools is not tools:
            system = joined_system(self._system, transcript.system)
            sent = transcript.kept = _Sent(self, system, tools, reasoning=self._return_reasoning)
        body = {**self._fields, "messages": sent.messages(transcript)}
        # A chat API ends a reply after its calls; the texts are those of calls in text.
        stop: Sequence[str] = transcript.info.get("stop", ()) if self._stop and tools is None else ()
        if sent.tools is not None:
            body["tools"] = sent.tools
        if stop:
            body["stop"] = _raw(stop[:MOST_STOPS])
        return completion_of(await self.client.chat(body), stop)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion | Failure]:
        replies = super().recv(min_results, timeout)
        if self._fatal is not None:
            raise self._fatal
        return replies
