"""ReBN: REINFORCE with return batch normalisation."""

from dataclasses import dataclass

import numpy as np

from gem_train.algorithms.base import Algorithm, Scores
from gem_train.batch import Batch
from gem_train.credit import Credit, discounted_returns, normalised, rewarded_alike


@dataclass(frozen=True)
class ReBN(Algorithm):
    """``A_t = (G_t - mean G) / (std G + eps)`` over all turns of the batch.

    It needs neither a critic nor groups, and gives every turn its own credit, so it allows any ``gamma``. Source:
    *GEM: A Gym for Agentic LLMs*, arXiv 2510.01051.

    If all episodes have the same rewards, every advantage is 0: with ``gamma`` below 1 the formula would prefer early
    turns to late ones, or the reverse, whatever the replies were.
    """

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(batch.rewards, batch.episode, self.gamma)
        if rewarded_alike(batch.rewards, batch.episode):
            return Credit(returns, np.zeros_like(returns))
        return Credit(returns, normalised(returns))
