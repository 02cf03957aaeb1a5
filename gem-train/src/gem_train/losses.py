"""Losses: pure functions on sampled tokens. All tensors are ``[tokens]``."""

from torch import Tensor


def clipped_policy_loss(new: Tensor, old: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """PPO's clipped surrogate per token: ``-min(r A, clamp(r, 1 - clip, 1 + clip) A)``, ``r = exp(new - old)``.

    In the first pass over a batch ``new == old``, and its gradient is REINFORCE's.
    Source: Schulman et al., arXiv 1707.06347, equation 7.
    """
    ratio = (new - old).exp()
    return -(ratio * advantages).minimum(ratio.clamp(1 - clip, 1 + clip) * advantages)


def clip_fraction(new: Tensor, old: Tensor, clip: float) -> Tensor:
    """The share of tokens whose ratio has left ``[1 - clip, 1 + clip]``."""
    return (((new - old).exp() - 1).abs() > clip).float().mean()


def kl_estimate(new: Tensor, old: Tensor) -> Tensor:
    """The mean of ``exp(d) - 1 - d`` with ``d = new - old``: an unbiased, never negative estimate of KL(old || new).

    Source: J. Schulman, "Approximating KL divergence" (2020), the estimator called k3.
    """
    difference = new - old
    return (difference.exp() - 1 - difference).mean()
