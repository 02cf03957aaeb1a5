"""The interface of engines: a policy that samples from a model whose weights change."""

import math
import time
from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gem.errors import ConfigError
from gem.failure import Failure
from gem.rollout.policy import Policy
from gem.rollout.transcript import Completion

if TYPE_CHECKING:
    from torch import Tensor

    from gem.chat.encoder import ChatEncoder


class Sampler(Policy):
    """A policy that samples replies, token by token, from a model whose weights change."""

    chat: "ChatEncoder"
    """Renders transcripts with the tokenizer of the model."""
    coldest: float = 0.0
    """The lowest temperature above 0 that it samples at."""
    version: int = 0
    """Of the weights that it samples from: that of the last `load`."""
    _ready: dict[int, Completion | Failure]
    """What is finished, by slot."""

    @property
    def temperature(self) -> float:
        """Of the replies that are asked for from now on; at 0 each token is the most likely one.

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
        """Take new weights, by the names of the model's parameters; also while replies are being sampled.

        Every token from now on is sampled from the new weights, and its log-probability is theirs, in the middle of a
        conversation or of a reply too.
        """

    @property
    @abstractmethod
    def _busy(self) -> bool:
        """Whether replies are in progress."""

    @abstractmethod
    def _step(self, timeout: float | None) -> None:
        """Bring the replies in progress a step closer to their end; an engine that only waits does so for `timeout`."""

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion | Failure]:
        # A step is taken even when nothing may be waited for: an engine in this process samples in no other way.
        until = None if timeout is None else time.monotonic() + timeout
        while self._busy and len(self._ready) < min_results:
            self._step(None if until is None else max(0.0, until - time.monotonic()))
            if until is not None and time.monotonic() >= until:
                break
        ready, self._ready = self._ready, {}
        return ready

    @abstractmethod
    def reseed(self, seed: int) -> None:
        """Set the seed of the sampling."""

    def sleep(self) -> None:
        """Free the memory of a device that is shared with the learner. Replies in progress resume after `wake`."""

    def wake(self) -> None:
        """Take back the memory that `sleep` freed; the next `load` brings the weights."""
