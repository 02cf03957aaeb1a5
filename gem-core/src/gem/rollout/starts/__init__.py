"""Samplers of starts: which env of a vector plays each seed. One file per sampler."""

from gem.rollout.starts.by_weight import ByWeight
from gem.rollout.starts.curriculum import Curriculum
from gem.rollout.starts.sampler import StartSampler

__all__ = ["ByWeight", "Curriculum", "StartSampler"]
