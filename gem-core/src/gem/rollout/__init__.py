"""Playing: a policy, the loop that carries observations to it and actions to environments, and how it did."""

from gem.failure import Failure
from gem.rollout.evaluation import Report
from gem.rollout.loop import assign, rollout, turn_limit
from gem.rollout.policy import Policy
from gem.rollout.transcript import Completion, Episode, Transcript, Turn

__all__ = [
    "Completion",
    "Episode",
    "Failure",
    "Policy",
    "Report",
    "Transcript",
    "Turn",
    "assign",
    "rollout",
    "turn_limit",
]
