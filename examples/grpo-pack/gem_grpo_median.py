"""A GRPO of its own, in one file: credit relative to the median of the group, which one lucky episode does not move.

Installed (`pip install ./examples/grpo-pack`), it trains by name:

    gemx train game:GuessTheNumber-v0-easy --algorithm grpo-median --set credit.center=mean
"""

from typing import ClassVar, Literal

import numpy as np

import gem
from gem_train.algorithms.base import Algorithm, Scores
from gem_train.algorithms.credit import Credit, discounted_returns, rewarded_alike
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.batch import Batch

GEM_API = 1


class MedianSettings(AlgorithmSettings):
    """Settings of GRPO relative to the median."""

    center: Literal["median", "mean"] = "median"
    """Baseline of the returns of a group."""


class MedianGRPO(Algorithm[MedianSettings]):
    """``A_t = G_t - median G`` over all actions of the episodes from one seed, over the deviation of the batch."""

    Settings: ClassVar[type[AlgorithmSettings]] = MedianSettings
    min_group_size: ClassVar[int] = 2
    tiny: ClassVar = {"rollout": {"group_size": 8}}

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(self.rewards(batch, scores), batch.episode, self.settings.gamma)
        advantages = np.zeros_like(returns)
        center = np.median if self.settings.center == "median" else np.mean
        group = batch.episodes.group[batch.episode]
        for number in np.unique(group):
            members = (group == number) & batch.trained
            if not rewarded_alike(batch.rewards[members], batch.episode[members]):
                advantages[members] = returns[members] - center(returns[members])
        return Credit(returns, (advantages / (advantages.std() or 1)).astype(np.float32))


@gem.hookimpl
def gem_algorithms() -> dict[str, str]:
    return {"grpo-median": "gem_grpo_median:MedianGRPO"}
