"""ReBN: REINFORCE with return batch normalisation."""

from dataclasses import dataclass

from gem_train.algorithms.base import Algorithm, Scores
from gem_train.batch import Batch
from gem_train.credit import Credit, discounted_returns, normalised


@dataclass(frozen=True)
class ReBN(Algorithm):
    """``A_t = (G_t - mean G) / (std G + eps)`` over all turns of the batch.

    It needs no critic and no groups, gives every turn its own credit, and so takes any ``gamma``. Source: *GEM*,
    arXiv 2510.01051.
    """

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(batch.rewards, batch.episode, self.gamma)
        return Credit(returns, normalised(returns))
