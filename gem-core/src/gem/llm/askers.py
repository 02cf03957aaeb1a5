"""Ways to ask a chat model: a chat API directly, and any other policy through `send` and `recv`."""

import asyncio
import itertools
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple, Protocol, cast

from gem.core import Observation
from gem.episode import Completion, Usage
from gem.errors import ConfigError, Failure, Fault
from gem.llm.errors import AccessRefused, ContextExceeded, RequestRefused
from gem.llm.messages import completion_of
from gem.llm.policy import ChatPolicy
from gem.llm.structured import Structure
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem.tool.content import parts_of
from gem.work.threads import Threads, drain

_FORMAT_WORDS = ("response_format", "json_schema", "guided", "grammar", "structured output")
"""Words of servers about a schema that they do not take."""
_TURN = 0.01
"""Seconds that a policy may wait for a reply before it is handed further questions."""
_log = logging.getLogger("gem.llm")


class Reply(NamedTuple):
    """A reply of a model, before anything is read from it."""

    message: Mapping[str, Any]
    text: str
    usage: Usage
    complete: bool
    """Whether it ended by itself, and not at a limit of tokens."""


class Asker(Protocol):
    """Asks one model; any number of calls at once, all of them in one event loop."""

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], structure: Structure | None, tools: Sequence[Mapping[str, Any]]
    ) -> Reply:
        """One reply of the model.

        Raises:
            Fault: it cannot be had.
            AccessRefused: nor will any other.
        """
        ...

    async def close(self) -> None:
        """Release what the model takes."""
        ...


class ApiAsker:
    """Asks a chat API with the client, the settings and the limits of a `ChatPolicy`."""

    def __init__(self, policy: ChatPolicy) -> None:
        self._policy = policy
        self._takes_formats = True

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], structure: Structure | None, tools: Sequence[Mapping[str, Any]]
    ) -> Reply:
        more: dict[str, Any] = {"tools": list(tools)} if tools else {}
        if structure is not None and self._takes_formats:
            try:
                return await self._ask(messages, {**more, "response_format": structure.response_format})
            except (AccessRefused, RequestRefused) as error:
                said = str(error).lower()
                if not any(word in said for word in _FORMAT_WORDS):
                    raise
                if self._takes_formats:
                    _log.warning("Schemas are put into the prompt, because the server does not take them: %s", error)
                self._takes_formats = False
        return await self._ask(_with_schema(messages, structure), more)

    async def _ask(self, messages: Sequence[Mapping[str, Any]], more: Mapping[str, Any]) -> Reply:
        reply = await self._policy.ask(messages, more)
        completion = completion_of(reply, ())
        complete = reply.finish_reason in ("stop", "tool_calls", "function_call")
        text = "" if reply.message.get("tool_calls") else completion.text
        return Reply(reply.message, text, reply.usage, complete)

    async def close(self) -> None:
        await self._policy.client.close()
        self._policy.close()


class PolicyAsker:
    """Asks a policy, such as a model on this machine, from one thread and in slots of its own."""

    def __init__(self, policy: Policy) -> None:
        if policy.info_methods:
            raise ConfigError("a policy that reads what methods of an env return cannot answer questions")
        self._policy = policy
        self._thread = Threads("gem-model", 1)
        self._numbers = itertools.count()
        self._lock = Lock()
        self._new: SimpleQueue[tuple[Transcript, Future[Completion]]] = SimpleQueue()
        self._serving = False

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], structure: Structure | None, tools: Sequence[Mapping[str, Any]]
    ) -> Reply:
        if tools:
            raise ConfigError("only a model behind a chat API (openai:NAME) takes tools")
        future: Future[Completion] = Future()
        with self._lock:
            self._new.put((transcript_of(_with_schema(messages, structure)), future))
            if not self._serving:
                self._serving = True
                self._thread.start(self._serve, lambda _: None)
        completion = await asyncio.wrap_future(future)
        usage = completion.usage or Usage(len(completion.prompt_ids), len(completion.ids))
        message = {"role": "assistant", "content": completion.text}
        return Reply(message, completion.text, usage, completion.finish_reason == "stop")

    async def close(self) -> None:
        self._thread.close()
        self._policy.close()

    def _serve(self) -> None:
        """Let the policy answer until nothing is asked any more."""
        pending: dict[int, Future[Completion]] = {}
        while self._goes_on(pending):
            try:
                new = {next(self._numbers): each for each in drain(self._new, 0)}
                pending |= {slot: future for slot, (_, future) in new.items()}
                self._policy.send({slot: transcript for slot, (transcript, _) in new.items()})
                for slot, reply in self._policy.recv(1, _TURN).items():
                    self._answer(pending.pop(slot), reply)
                    self._policy.forget(slot)
            except BaseException as error:  # of the policy, which fails all that it was asked
                for slot, future in pending.items():
                    self._policy.forget(slot)
                    _fail(future, error)
                pending.clear()
            for slot in [slot for slot, future in pending.items() if future.cancelled()]:
                del pending[slot]
                self._policy.forget(slot)

    def _goes_on(self, pending: Mapping[int, object]) -> bool:
        with self._lock:
            self._serving = bool(pending) or not self._new.empty()
            return self._serving

    def _answer(self, future: "Future[Completion]", reply: Completion | Failure) -> None:
        if isinstance(reply, Failure):
            _fail(future, Fault(reply.error))
        elif reply.finish_reason == "context" and not reply.text:
            _fail(future, ContextExceeded("the conversation is longer than the model's context"))
        elif future.set_running_or_notify_cancel():
            future.set_result(reply)


def _fail(future: "Future[Completion]", error: BaseException) -> None:
    if future.set_running_or_notify_cancel():
        future.set_exception(error if isinstance(error, Exception) else Fault(repr(error)))


def _with_schema(messages: Sequence[Mapping[str, Any]], structure: Structure | None) -> Sequence[Mapping[str, Any]]:
    """The messages, of which the last asks for the structure in words."""
    last = messages[-1]
    content: Any = last["content"]
    if structure is None or (isinstance(content, str) and content.endswith(structure.in_words)):
        return messages
    asked = f"\n\n{structure.in_words}"
    content = content + asked if isinstance(content, str) else [*content, {"type": "text", "text": asked}]
    return [*messages[:-1], {**last, "content": content}]


def transcript_of(messages: Sequence[Mapping[str, Any]]) -> Transcript:
    """Messages as the conversation of a policy. Raises `ConfigError` for those that only a chat API takes."""
    system: list[str] = []
    seen: list[list[Observation]] = [[]]
    said: list[str] = []
    for message in messages:
        content: Any = message.get("content")
        match message.get("role"):
            case "system" if isinstance(content, str) and not said:
                system.append(content)
            case "user" if isinstance(content, str | list):
                seen[-1].append(cast("Observation", content))
            case "assistant" if isinstance(content, str):
                said.append(content)
                seen.append([])
            case role:
                raise ConfigError(
                    f"a message of the role {role!r} with {content!r:.80} cannot be put to this model: it takes the "
                    "text of `system` before the others, then of `user` and `assistant`"
                )
    observations = [_joined(each) for each in seen]
    transcript = Transcript(observations[0], {"system": "\n\n".join(system)} if system else {})
    for text, observation in zip(said, observations[1:], strict=True):
        transcript.add(Completion(text), 0.0, observation, {})
    return transcript


def _joined(contents: Sequence[Observation]) -> Observation:
    if all(isinstance(each, str) for each in contents):
        return "\n\n".join(map(str, contents))
    return [part for each in contents for part in parts_of(each)]
