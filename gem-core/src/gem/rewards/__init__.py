"""Rewards as parts: typed functions, judges and tools that score an episode after it has been played.

A `RewardPipeline` scores episodes beside the envs and the policy (`scored`). The score of each part is kept, so that
other weights need no second scoring (`reweighted`).
"""

from gem.rewards.judging import judge
from gem.rewards.named import make_pipeline
from gem.rewards.parts import has_ended, reweighted, unscored, weighed
from gem.rewards.pipeline import RewardPipeline
from gem.rewards.score import Reward, Score, reward
from gem.rewards.stage import scored
from gem.rewards.verifying import verified

__all__ = [
    "Reward",
    "RewardPipeline",
    "Score",
    "has_ended",
    "judge",
    "make_pipeline",
    "reward",
    "reweighted",
    "scored",
    "unscored",
    "verified",
    "weighed",
]
