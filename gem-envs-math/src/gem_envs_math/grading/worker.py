"""The program of the workers in which math-verify compares answers; `gem.work.fork_server` calls its functions."""

import resource
from collections.abc import Callable
from typing import Any

from gem_envs_math.grading import symbolic
from gem_envs_math.grading.symbolic import warm_up

__all__ = ["answer", "begin", "warm_up"]

GOLD_READ = "gold"
_MEMORY = 1 << 30
"""Bytes of address space of a worker."""


def begin() -> None:
    """Limit the memory of a worker."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    symbolic.stretch()


def answer(task: dict[str, Any], tell: Callable[[Any], None]) -> tuple[bool, str]:
    """Verdict on an answer, and the rule: `math-verify`, or why math-verify has no verdict."""
    try:
        gold = symbolic.parse(task["gold"])
        if gold is None:
            return False, "text"
        tell(GOLD_READ)  # what comes now takes as long as the answer makes it
        given = symbolic.parse(task["answer"])
        if given is None:
            return False, "unreadable"
        return symbolic.same(gold, given, task["tolerance"]), "math-verify"
    except RecursionError:
        return False, "too long"
