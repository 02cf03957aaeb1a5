"""The base class of algorithms."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from gem_train.batch import Batch, Floats
from gem_train.credit import Credit
from gem_train.losses import clip_fraction, clipped_policy_loss, kl_estimate

Need = Literal["old_logprobs"]
"""What a learner can compute for a batch before the weights change. See `Scores`."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What a learner computed for a batch before the weights change; None for what was not asked for."""

    old_logprobs: tuple[Floats, ...] | None = None
    """The learner's own log-probabilities of the sampled ids, ``[length]`` for each sequence. They replace the
    engine's where the two differ, as with an engine of lower precision."""


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """The sampled tokens of a minibatch, as the loss needs them, ``[tokens]`` each."""

    logprobs: Tensor
    """Under the weights that are being changed; carries the gradient."""
    old_logprobs: Tensor
    entropy: Tensor
    """Of the whole distribution the token was drawn from, in nats; carries the gradient."""
    advantages: Tensor


@dataclass(frozen=True)
class Algorithm(ABC):
    """Turns a batch into credit, and credit into a loss.

    Args:
        gamma: discount per turn, from 0 to 1.
        clip: PPO's clipping of the ratio between new and old probabilities.
        old_logprobs: whether the ratio starts from the log-probabilities of the engine or of the learner.
    """

    gamma: float
    clip: float
    old_logprobs: Literal["engine", "learner"]

    @property
    def needs(self) -> frozenset[Need]:
        """What the learner is to score."""
        return frozenset({"old_logprobs"}) if self.old_logprobs == "learner" else frozenset()

    @abstractmethod
    def credit(self, batch: Batch, scores: Scores) -> Credit:
        """Returns and advantages of the turns of the batch."""

    def loss(self, terms: TokenTerms, entropy_weight: float) -> tuple[Tensor, dict[str, Tensor]]:
        """The summed loss over the tokens with a bonus for entropy, and means to report.

        The sum, not the mean: the learner divides by the tokens of the whole minibatch, which may come in parts.
        """
        policy = clipped_policy_loss(terms.logprobs, terms.old_logprobs, terms.advantages, self.clip)
        loss = (policy - entropy_weight * terms.entropy).sum()
        with torch.no_grad():
            metrics = {
                "policy_loss": policy.mean(),
                "entropy": terms.entropy.mean(),
                "clip_fraction": clip_fraction(terms.logprobs, terms.old_logprobs, self.clip),
                "kl": kl_estimate(terms.logprobs, terms.old_logprobs),
            }
        return loss, metrics
