"""GRPO, Dr.GRPO and RLOO: the advantage of an action is relative to the episodes that started alike."""

from typing import ClassVar

import numpy as np

from gem_train.algorithms.actions import leave_out
from gem_train.algorithms.base import Algorithm, Scores
from gem_train.algorithms.credit import Credit, compared, discounted_returns
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.batch import Batch


class GRPOSettings(AlgorithmSettings):
    """Settings of GRPO."""

    deviation: bool = True
    """True if advantages are divided by the standard deviation of their group; false in Dr.GRPO and RLOO."""
    leave_one_out: bool = False
    """True if the baseline of an episode is the mean of the other episodes of its group, as in RLOO."""


class GRPO(Algorithm[GRPOSettings]):
    """``A_t = (G_t - mean G) / std G`` over all actions of the episodes from one seed.

    With one action per episode (``actions = "episode"``, or an environment of one turn) these are the advantages of
    outcome supervision in *DeepSeekMath*, arXiv 2402.03300, section 4.1.2. With several, and rewards at any turn, an
    action is credited with its own discounted return, as in *GEM: A Gym for Agentic LLMs*, arXiv 2510.01051, and the
    group takes the place of the batch in ReBN's normalisation: later turns do not get credit for earlier rewards, as
    they would if an episode were one action.

    Without the deviation: Dr.GRPO, arXiv 2503.20783. Without it, and with the mean of the others: RLOO, arXiv
    2402.14740. A group whose episodes are rewarded alike has advantages of 0.
    """

    Settings: ClassVar[type[AlgorithmSettings]] = GRPOSettings
    min_group_size: ClassVar[int] = 2
    tiny: ClassVar = {"rollout": {"group_size": 8}}

    def prepare(self, batch: Batch) -> Batch:
        batch = super().prepare(batch)
        sizes = np.bincount(batch.episodes.group, minlength=1)
        alone = sizes[batch.episodes.group] == 1
        return leave_out(batch, alone[batch.episode])

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        settings = self.settings
        returns = discounted_returns(self.rewards(batch, scores), batch.episode, settings.gamma)
        advantages = compared(
            returns, batch, batch.episodes.group, deviation=settings.deviation, leave_one_out=settings.leave_one_out
        )
        return Credit(returns, advantages)
