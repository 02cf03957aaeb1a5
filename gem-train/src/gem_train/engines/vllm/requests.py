"""Conversations as requests, each with its parameters: the common part of the engines that sample with vLLM."""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gem import seeding
from gem.chat.encoder import ChatEncoder
from gem.episode import Completion, FinishReason
from gem.errors import Failure
from gem.rollout.transcript import Transcript
from gem_train.engines.sampler import Conversation, Sampler


@dataclass(frozen=True, slots=True)
class _Request:
    """A reply in progress."""

    slot: int
    if_cut: FinishReason
    """Why it ends where it may have no more tokens."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of vLLM to a request that has ended."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: str | None
    versions: tuple[int, ...]
    """Versions of the weights, in the order of the tokens that were sampled from them."""


class RequestSampler(Sampler):
    """Samples with vLLM, wherever it runs; arguments as of `Sampler`.

    A reply ends with one of the ids that end a reply, or after a text in the observation's `info["stop"]`. Each
    request has a seed of its own, so what is sampled does not depend on the requests beside it, except for rounding.
    """

    coldest = 0.01  # vLLM samples at this one where a lower one is asked for

    def __init__(self, chat: ChatEncoder, **settings: Any) -> None:
        super().__init__(Conversation, chat, **settings)
        self._requests: dict[str, _Request] = {}
        self._names: dict[int, str] = {}
        """The request of each slot that has one in progress."""
        self._numbers = itertools.count()

    @abstractmethod
    def _ask(self, name: str, ids: Sequence[int], params: dict[str, Any]) -> None:
        """Begin with a request for what follows `ids`; `params` are fields of vLLM's `SamplingParams`."""

    @abstractmethod
    def _cancel(self, name: str) -> None:
        """End a request of which the result is not wanted any more."""

    @property
    def _busy(self) -> bool:
        return bool(self._requests)

    def _begin(self, slot: int, conversation: Conversation, transcript: Transcript, limit: int) -> None:
        name = self._names[slot] = str(next(self._numbers))
        self._requests[name] = _Request(slot, conversation.if_cut)
        self._ask(name, conversation.context, self._params(conversation, transcript, limit))

    def forget(self, slot: int) -> None:
        with self._turns:
            self._conversations.pop(slot, None)
            self._ready.pop(slot, None)
            name = self._names.pop(slot, None)
            if name is not None:
                del self._requests[name]
                self._cancel(name)

    def _params(self, conversation: Conversation, transcript: Transcript, limit: int) -> dict[str, Any]:
        stops = [stop for stop in transcript.info.get("stop", ()) if stop]
        start = conversation.start
        return {
            "temperature": self.temperature,
            "max_tokens": limit,
            "seed": seeding.derive(conversation.seed, start.id or "", start.seed, start.group, len(transcript.turns)),
            "stop": stops,
            "stop_token_ids": list(self.chat.stop_ids),
            "ignore_eos": True,  # the ids that end a reply are ours to choose
            "logprobs": 0,  # of the sampled token only
            "flat_logprobs": True,
            "detokenize": bool(stops),
            "skip_special_tokens": False,  # a stop text may be one
        }

    def _answered(self, name: str, answer: Answer | Failure) -> None:
        """Make a completion of an answer, unless its conversation is forgotten."""
        request = self._requests.pop(name, None)
        if request is None:
            return
        del self._names[request.slot]
        failed = isinstance(answer, Failure)
        self._ready[request.slot] = answer if failed else self._completion(request, answer)

    def _completion(self, request: _Request, answer: Answer) -> Completion | Failure:
        if answer.finish_reason not in ("stop", "length"):
            what = f"vLLM ended a reply with {answer.finish_reason!r}"
            return Failure(f"RuntimeError: {what}", what)
        conversation = self._conversations[request.slot]
        conversation.context += answer.ids
        reason = "stop" if answer.finish_reason == "stop" else request.if_cut
        return conversation.completion(answer.ids, answer.logprobs, reason, answer.versions)
