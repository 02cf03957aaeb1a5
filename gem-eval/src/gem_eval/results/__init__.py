"""Measurements of episodes: the one type `Result`, the statistics in it, floors of environments, curves of runs.

The floors (`gem_eval.results.floors`) play; nothing else here does.
"""

from gem_eval.results.result import Culprit, Interval, Result, Tally, item_of

__all__ = ["Culprit", "Interval", "Result", "Tally", "item_of"]
