"""REINFORCE: the advantage of an action is its return."""

from gem_train.algorithms.base import Algorithm, Scores
from gem_train.algorithms.credit import Credit, discounted_returns
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.batch import Batch


class Reinforce(Algorithm[AlgorithmSettings]):
    """``A_t = G_t``, without a baseline.

    Source: R. J. Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement
    learning" (1992).
    """

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(self.rewards(batch, scores), batch.episode, self.settings.gamma)
        return Credit(returns, returns)
