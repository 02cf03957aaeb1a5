"""Losses: pure functions on sampled tokens. All tensors are ``[tokens]``. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor


Estimator = Literal["k1", "k2", "k3"]
"""Estimator of a KL divergence from sampled tokens: see `kl_divergence`."""


def clipped_policy_loss(
    ratio: Tensor, advantages: Tensor, low: float, high: float, dual: float | None = None
) -> Tensor:
    """PPO's clipped surrogate per token: ``-min(r A, clamp(r, 1 - low, 1 + high) A)``.

    In the first pass over a batch the ratio is 1, and its gradient is REINFORCE's.
    Source: Schulman et al., arXiv 1707.06347, equation 7; unequal sides: DAPO, arXiv 2503.14476, equation 8.

    Args:
        ratio: new over old probability.
        advantages: A.
        low: how far below 1 the ratio counts.
        high: and how far above.
        dual: where A is negative, the loss is at most ``-dual * A`` ("dual clip"; Ye et al., arXiv 1912.09729, equation
            5).
    """
    loss = -(ratio * advantages).minimum(ratio.clamp(1 - low, 1 + high) * advantages)
    return loss if dual is None else loss.minimum((-dual * advantages).where(advantages < 0, loss))


def outside_clip(ratio: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """1 where the ratio is below ``1 - low``, else 0; and 1 where it is above ``1 + high``."""
    return (ratio < 1 - low).to(ratio.dtype), (ratio > 1 + high).to(ratio.dtype)


def kl_divergence(own: Tensor, other: Tensor, estimator: Estimator) -> Tensor:
    """An estimate of KL(own || other) from tokens that `own` sampled, given both log-probabilities of these.

    With ``d = other - own``: k1 is ``-d`` (unbiased), k2 is ``d^2 / 2`` (its gradient is that of the divergence), k3 is
    ``exp(d) - 1 - d`` (unbiased, and never negative).
    Source: J. Schulman, "Approximating KL divergence" (2020).
    """
    difference = other - own
    if estimator == "k1":
        return -difference
    if estimator == "k2":
        return difference.square() / 2
    return difference.expm1() - difference


def importance_weights(learner: Tensor, engine: Tensor, cap: float) -> Tensor:
    """Truncated importance sampling: ``min(exp(learner - engine), cap)``, for tokens that the engine sampled.

    Both are log-probabilities under the weights before the update.
    Source: Yao et al., "Your efficient RL framework secretly brings you off-policy RL training" (2025); the truncation
    is that of Ionides (2008).
    """
    return (learner - engine).exp().clamp(max=cap)
