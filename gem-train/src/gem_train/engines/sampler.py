"""The interface of engines: a policy that samples from a model whose weights change."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gem.rollout.policy import Policy

if TYPE_CHECKING:
    from torch import Tensor

    from gem_train.chat.encoder import ChatEncoder


class Sampler(Policy):
    """A policy that samples replies, token by token, from a model whose weights change."""

    chat: "ChatEncoder"
    """Renders transcripts with the tokenizer of the model."""
    temperature: float
    """Of the replies that are asked for from now on; above 0."""
    version: int = 0
    """Of the weights that it samples from: that of the last `load`."""

    @abstractmethod
    def load(self, weights: "Iterable[tuple[str, Tensor]]", version: int) -> None:
        """Take new weights, by the names of the model's parameters; also while replies are being sampled.

        Every token from now on is sampled from the new weights, and its log-probability is theirs, in the middle of a
        conversation or of a reply too.
        """

    @abstractmethod
    def reseed(self, seed: int) -> None:
        """Set the seed of the sampling."""

    def sleep(self) -> None:
        """Free the memory of a device that is shared with the learner. Replies in progress resume after `wake`."""

    def wake(self) -> None:
        """Take back the memory that `sleep` freed; the next `load` brings the weights."""
