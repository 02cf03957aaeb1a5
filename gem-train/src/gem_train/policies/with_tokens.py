"""A sampler whose replies come with their tokens as texts, for recordings."""

from collections.abc import Mapping

from msgspec.structs import replace

from gem.episode import Completion
from gem.errors import Failure
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem_train.engines.sampler import Sampler
from gem_train.runs.token_texts import tokens_of


class WithTokens(Policy):
    """Replies of a sampler, with `Completion.tokens`."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self.info_methods = sampler.info_methods

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        self._sampler.send(transcripts)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> Mapping[int, Completion | Failure]:
        tokenizer = self._sampler.chat.tokenizer
        return {
            slot: replace(reply, tokens=tokens_of(reply, tokenizer))
            if isinstance(reply, Completion) and reply.ids
            else reply
            for slot, reply in self._sampler.recv(min_results, timeout).items()
        }

    def forget(self, slot: int) -> None:
        self._sampler.forget(slot)

    def close(self) -> None:
        self._sampler.close()
