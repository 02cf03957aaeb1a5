"""Samplers of starts: which env of a vector plays each seed, and which row. One file per sampler."""

from gem.rollout.starts.by_learnability import ByLearnability
from gem.rollout.starts.by_weight import ByWeight
from gem.rollout.starts.curriculum import Curriculum
from gem.rollout.starts.each_row import EachRow
from gem.rollout.starts.sampler import StartSampler

__all__ = ["ByLearnability", "ByWeight", "Curriculum", "EachRow", "StartSampler"]
