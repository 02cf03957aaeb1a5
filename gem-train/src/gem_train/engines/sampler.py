"""The interface of engines: a policy that samples from a model whose weights change."""

import math
import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from gem import seeding
from gem.chat import conversation
from gem.chat.encoder import ChatEncoder
from gem.episode import Completion, Start
from gem.episode.episode import AGENT
from gem.errors import ConfigError, Failure
from gem.rollout.policy import Policy
from gem.rollout.transcript import Transcript
from gem_train.engines.turns import Turns

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(slots=True, eq=False)
class Conversation(conversation.Conversation):
    """The state of one transcript."""

    seed: int = field(kw_only=True)
    """Seed of the sampler when the conversation began."""
    start: Start = field(kw_only=True)


class Sampler(Policy):
    """A policy that samples replies, token by token, from a model whose weights change.

    Args:
        kind: of the conversations that it keeps.
        chat: renders transcripts; its tokenizer is the model's.
        max_new_tokens: the longest reply, in tokens.
        temperature: of sampling; at 0 each token is the most likely one.
        positions: the longest conversation, in ids.
        seed: of the sampling.

    Raises:
        ConfigError: it does not sample at this temperature.
    """

    coldest: float = 0.0
    """The lowest temperature above 0 that it samples at."""
    version: int = 0
    """Version of the weights that it samples from: that of the last `load`."""

    def __init__(
        self,
        kind: type[Conversation],
        chat: ChatEncoder,
        *,
        max_new_tokens: int,
        temperature: float,
        positions: int,
        seed: int,
    ) -> None:
        self._kind, self.chat = kind, chat
        self.max_new_tokens, self.temperature = max_new_tokens, temperature
        self._positions = positions
        self._conversations: dict[int, Any] = {}
        self._ready: dict[int, Completion | Failure] = {}
        """Finished replies by slot."""
        self._turns = Turns()
        """Held where replies begin, advance and end. An engine in this process holds it while its weights change."""
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Set the seed of the sampling, for the conversations that begin from now on."""
        self._seed = seed
        # Conversations outside a rollout have no start; they are told apart by their order.
        self._unnamed = count()

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        with self._turns:
            for slot, transcript in transcripts.items():
                conversation = self._conversations.get(slot)
                if conversation is None:
                    start = transcript.start or Start(next(self._unnamed))
                    conversation = self._conversations[slot] = self._kind(
                        self.chat, self._positions, self.max_new_tokens, seed=self._seed_of(transcript), start=start
                    )
                limit = conversation.ask(transcript)
                if limit:
                    self._begin(slot, conversation, transcript, limit)
                else:
                    self._ready[slot] = Completion("", finish_reason="context")

    def _seed_of(self, transcript: Transcript) -> int:
        """The seed of a conversation: players of one game must not draw the same numbers."""
        player = transcript.player
        return self._seed if player == AGENT else seeding.derive(self._seed, "player", player)

    @abstractmethod
    def _begin(self, slot: int, conversation: Any, transcript: Transcript, limit: int) -> None:
        """Begin with a reply of at most `limit` ids to what the conversation has read."""

    @property
    def temperature(self) -> float:
        """Temperature of replies that are asked for from now on; at 0 each token is the most likely one.

        Log-probabilities are those of the distribution that was drawn from; at 0 those at 1, the model's.

        Raises:
            ConfigError: it is set to a temperature that the sampler does not have.
        """
        return self._temperature

    @temperature.setter
    def temperature(self, temperature: float) -> None:
        if not (temperature == 0 or max(self.coldest, 1e-9) <= temperature < math.inf):
            least = f"at least {self.coldest:g}" if self.coldest else "above 0"
            raise ConfigError(f"temperature is 0, for the most likely tokens, or {least}, not {temperature}")
        self._temperature = temperature

    @abstractmethod
    def load(self, weights: "Iterable[tuple[str, Tensor]]", version: int) -> None:
        """Take new weights, by the names of the model's parameters; also while replies are being sampled, in another
        thread too.

        Every token from now on is sampled from the new weights, and its log-probability is theirs, in the middle of a
        conversation or of a reply too.
        """

    @property
    @abstractmethod
    def _busy(self) -> bool:
        """True if replies are in progress."""

    @abstractmethod
    def _step(self, timeout: float | None) -> None:
        """Bring the replies in progress a step closer to their end; an engine that only waits does so for `timeout`."""

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion | Failure]:
        # A step is taken even when nothing may be waited for: an engine in this process samples in no other way.
        until = None if timeout is None else time.monotonic() + timeout
        while self._busy and len(self._ready) < min_results:
            with self._turns:
                self._step(None if until is None else max(0.0, until - time.monotonic()))
            if until is not None and time.monotonic() >= until:
                break
        ready, self._ready = self._ready, {}
        return ready

    def sleep(self) -> None:
        """Free the memory of a device that is shared with the learner. Replies in progress resume after `wake`."""

    def wake(self) -> None:
        """Take back the memory that `sleep` freed; the next `load` brings the weights."""
