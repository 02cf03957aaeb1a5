"""Rollouts: policies, the loop between them and environments, episodes."""

from gem.episode import Completion, Episode, Start, Turn
from gem.errors import Failure
from gem.rollout.loop import rollout
from gem.rollout.policy import Policy
from gem.rollout.rows import each_row, table_of
from gem.rollout.running import turn_limit
from gem.rollout.transcript import Transcript

__all__ = [
    "Completion",
    "Episode",
    "Failure",
    "Policy",
    "Start",
    "Transcript",
    "Turn",
    "each_row",
    "rollout",
    "table_of",
    "turn_limit",
]
