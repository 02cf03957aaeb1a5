"""REINFORCE: the advantage of a turn is its return."""

from dataclasses import dataclass

from gem_train.algorithms.base import Algorithm, Scores
from gem_train.batch import Batch
from gem_train.credit import Credit, discounted_returns


@dataclass(frozen=True)
class Reinforce(Algorithm):
    """``A_t = G_t``, without a baseline.

    Source: R. J. Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
    learning" (1992).
    """

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(batch.rewards, batch.episode, self.gamma)
        return Credit(returns, returns)
