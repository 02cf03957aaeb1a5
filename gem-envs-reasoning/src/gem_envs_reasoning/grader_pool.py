"""The processes, shared by all envs of a process, that grade integrals."""

import os

from gem.work.fork_pool import ForkPool, LimitExceeded, WorkerLost

SECONDS = 2.0
"""Processor time for an answer. Nearly all take less than 0.1 s."""

# One answer per fork, and a fixed order of sympy's sets: what it can simplify depends on neither earlier answers nor
# the process.
POOL = ForkPool(
    "gem_envs_reasoning.antiderivative",
    workers=min(4, os.cpu_count() or 1),
    tasks=1,
    environment={"PYTHONHASHSEED": "0"},
)


def is_antiderivative(answer: str, integrand: str, variable: str, *, pool: ForkPool = POOL) -> bool:
    """`antiderivative.is_antiderivative` in a process; False for an answer that takes too long or ends two processes.

    Raises:
        WorkersFailed: there are no processes, or the machine is too busy.
    """
    try:
        return pool.ask([answer, integrand, variable], SECONDS)
    except (LimitExceeded, WorkerLost):
        return False
