"""The base class of algorithms. Imports no torch: settings are checked without it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np

from gem_train.algorithms.actions import regroup
from gem_train.algorithms.credit import Credit
from gem_train.algorithms.losses import (
    cispo_loss,
    clipped_policy_loss,
    importance_weights,
    kl_divergence,
    outside_clip,
    probability_ratio,
)
from gem_train.algorithms.settings import AlgorithmSettings, CriticSettings
from gem_train.batch import Batch, Floats

if TYPE_CHECKING:
    from torch import Tensor

S = TypeVar("S", bound=AlgorithmSettings)

Need = Literal["old_logprobs", "reference_logprobs", "values"]
"""Scores that a learner can compute for a batch before the weights change. See `Scores`."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a batch before the weights change; None for those that were not asked for.

    Log-probabilities are of the sampled ids, ``[length]`` for each sequence.
    """

    old_logprobs: tuple[Floats, ...] | None = None
    """The learner's own. They replace the engine's where the two differ, as with an engine of lower precision."""
    reference_logprobs: tuple[Floats, ...] | None = None
    """Log-probabilities under the model before training."""
    values: Floats | None = None
    """The critic's value of the state before each action, ``[actions]``."""


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """The trained tokens of a part of a minibatch, as the loss needs them, ``[tokens]`` each."""

    logprobs: Tensor
    """Log-probabilities under the weights that are being changed; they carry the gradient."""
    old_logprobs: Tensor
    """Log-probabilities under the weights before the batch; the probability ratio starts from them."""
    engine_logprobs: Tensor
    """Log-probabilities that the engine computed at sampling."""
    advantages: Tensor
    """Advantage of the action that the token belongs to."""
    episode_share: Tensor
    """1 / the trained tokens of the token's episode; its sum over an episode is 1."""
    action: Tensor
    """Number of the action that the token belongs to. An action that a chat template spread over several sequences has
    one in each; so all tokens with a number are in the same part, whatever a minibatch is divided into."""
    entropy: Tensor | None = None
    """Entropy of the distribution the token was drawn from, in nats; carries the gradient. None if it was not asked
    for."""
    entropy_weight: float = 0.0
    """Weight of the entropy bonus at this step."""
    reference_logprobs: Tensor | None = None
    """Log-probabilities under the model before training, if the algorithm needs them."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a part of a minibatch.

    The learner sums the gradients of `total` over all parts and divides them once by the sum of `normaliser`, so that
    the number of parts does not change the gradient.
    """

    total: Tensor
    """A sum over tokens."""
    normaliser: Tensor
    """Additive over parts, such as the number of tokens."""
    metrics: Mapping[str, Tensor]
    """Sums over tokens; reported as means."""


class Algorithm(ABC, Generic[S]):
    """Turns a batch into credit, and credit into a loss.

    A new algorithm is a class in one file: `credit` is all that it must have. It is chosen by the name under which a
    pack offers it in the hook `gem_algorithms`, or as `"module:Class"`.

    Args:
        settings: validated values of the table `[credit]`.
    """

    Settings: ClassVar[type[AlgorithmSettings]] = AlgorithmSettings
    """The settings that it takes."""
    min_group_size: ClassVar[int] = 1
    """The least `rollout.group_size` that it can work with."""
    tiny: ClassVar[Mapping[str, Any]] = {}
    """Settings of a run with `--model tiny` that suit it, over those of `gem_train.config.training.TINY`."""

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @property
    def needs(self) -> frozenset[Need]:
        """Scores that the algorithm needs of the learner."""
        needs: set[Need] = set()
        if self.settings.old_logprobs == "learner":
            needs.add("old_logprobs")
        if self.settings.kl:
            needs.add("reference_logprobs")
        if self.critic is not None:
            needs.add("values")
        return frozenset(needs)

    @property
    def critic(self) -> CriticSettings | None:
        """The settings of the critic that computes `Scores.values`; None if it needs none."""
        return None

    def prepare(self, batch: Batch) -> Batch:
        """The batch with a row for each action instead of each turn, and cut replies handled as the settings say."""
        return regroup(batch, self.settings.actions, self.settings.cut_replies, self.settings.gamma)

    @abstractmethod
    def credit(self, batch: Batch, scores: Scores) -> Credit:
        """Returns and advantages of the actions of the batch, which `prepare` made."""

    def rewards(self, batch: Batch, scores: Scores) -> Floats:
        """The reward of each action, less its KL penalty if that is subtracted from rewards."""
        settings = self.settings
        if not settings.kl or settings.kl_in == "loss":
            return batch.rewards
        assert scores.reference_logprobs is not None
        old = scores.old_logprobs or tuple(sequence.logprobs for sequence in batch.sequences)
        import torch  # a learner has made the scores, so it is loaded

        penalties = np.zeros(len(batch.rewards), np.float64)
        for sequence, own, reference in zip(batch.sequences, old, scores.reference_logprobs, strict=True):
            at = sequence.sampled
            pair = torch.from_numpy(own[at]), torch.from_numpy(reference[at])
            np.add.at(penalties, sequence.turn[at], kl_divergence(*pair, settings.kl_estimator).numpy())
        return (batch.rewards - settings.kl * penalties).astype(np.float32)

    def loss(self, terms: TokenTerms) -> Loss:
        """The policy loss, the entropy bonus and the KL penalty of some tokens.

        The normaliser is by choice the number of tokens; a constant length times the number of episodes; or the number
        of episodes, each token weighing 1 / the tokens of its episode. Tokens that are rejected for the gap between
        engine and learner are in neither.
        """
        settings, (low, high) = self.settings, self.settings.clips
        share, kept = terms.episode_share, terms.episode_share.new_ones(len(terms.logprobs))
        ratio = probability_ratio(terms.logprobs, terms.old_logprobs, terms.action, settings.ratio)
        if settings.policy_loss == "cispo":
            policy = cispo_loss(terms.logprobs, ratio, terms.advantages, low, high)
        else:
            policy = clipped_policy_loss(ratio, terms.advantages, low, high, settings.dual_clip)
        low_clipped, high_clipped = outside_clip(ratio, low, high)
        metrics: dict[str, Tensor] = {
            "clip_fraction": low_clipped + high_clipped,
            "clip_fraction_low": low_clipped,
            "clip_fraction_high": high_clipped,
            "kl": kl_divergence(terms.old_logprobs, terms.logprobs, "k3"),
            "entropy": -terms.logprobs if terms.entropy is None else terms.entropy,
        }
        if settings.importance_cap is not None:
            learner, engine, cap = terms.old_logprobs, terms.engine_logprobs, settings.importance_cap
            beyond = settings.importance_beyond
            weights, outside = importance_weights(learner, engine, terms.action, cap, settings.importance, beyond)
            metrics["importance_weight"] = weights
            metrics["importance_capped" if beyond == "truncate" else "importance_rejected"] = outside.to(weights.dtype)
            policy = policy * weights
            if beyond == "reject":
                kept = kept * ~outside
                share = share * kept
        loss = metrics["policy_loss"] = policy
        if terms.entropy is not None and terms.entropy_weight:
            loss = loss - terms.entropy_weight * terms.entropy
        if terms.reference_logprobs is not None:
            divergence = kl_divergence(terms.logprobs, terms.reference_logprobs, settings.kl_estimator)
            metrics["kl_reference"] = divergence
            if settings.kl_in == "loss":
                loss = loss + settings.kl * divergence
        sums = {name: value.detach().sum() for name, value in metrics.items()}
        if settings.normaliser == "tokens":
            return Loss((loss * kept).sum(), kept.sum(), sums)
        if settings.normaliser == "constant":
            return Loss((loss * kept).sum(), settings.constant_length * share.sum(), sums)
        return Loss((loss * share).sum(), share.sum(), sums)
