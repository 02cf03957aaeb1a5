"""Rollouts: policies, the loop between them and environments, episodes and reports."""

from gem.failure import Failure
from gem.rollout.loop import assign, rollout
from gem.rollout.policy import Policy
from gem.rollout.report import Report
from gem.rollout.rows import each_row, table_of
from gem.rollout.running import turn_limit
from gem.rollout.transcript import Completion, Episode, Start, Transcript, Turn

__all__ = [
    "Completion",
    "Episode",
    "Failure",
    "Policy",
    "Report",
    "Start",
    "Transcript",
    "Turn",
    "assign",
    "each_row",
    "rollout",
    "table_of",
    "turn_limit",
]
