"""One algorithm a file. An algorithm says what it must know, and how turns get their credit."""

from gem_train.algorithms.base import Algorithm, Need, Scores, TokenTerms
from gem_train.algorithms.rebn import ReBN
from gem_train.algorithms.reinforce import Reinforce

ALGORITHMS: dict[str, type[Algorithm]] = {"reinforce": Reinforce, "rebn": ReBN}

__all__ = ["ALGORITHMS", "Algorithm", "Need", "ReBN", "Reinforce", "Scores", "TokenTerms"]
