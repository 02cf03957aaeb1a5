"""The same verdicts on an idle machine and beside busy processes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from gem_envs_math.grading import GraderFailed, grade

Pair = tuple[str, str]
"""An answer and its gold."""


@contextmanager
def busy(processes: int, *, apart: bool = False) -> Iterator[None]:
    """So many processes that calculate, until the end of the block.

    Args:
        apart: each in a session of its own, as programs of a sandbox are: the scheduler may give as much to a session
            as to any other (Linux sched(7), "The autogroup feature").
    """
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command, start_new_session=apart) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


def verdict(pair: Pair) -> str:
    """The verdict and its rule, or `fault`."""
    try:
        right, rule = grade(*pair)
    except GraderFailed:
        return "fault"
    return f"{'right' if right else 'wrong'} by {rule}"


def verdict_by_the_clock(pair: Pair) -> str:
    """A planted fault: a verdict that needs 20 ms of a processor is wrong if it takes 60 ms."""
    started, processor = time.perf_counter(), time.thread_time()
    while time.thread_time() < processor + 0.02:
        pass
    return "right" if time.perf_counter() < started + 0.06 else "wrong by deadline"


def verdicts(pairs: Sequence[Pair], judge: Callable[[Pair], str] = verdict) -> list[str]:
    """The verdict on each pair, by two threads."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(judge, pairs))


def differences(pairs: Sequence[Pair], one: Sequence[str], other: Sequence[str]) -> list[tuple[Pair, str, str]]:
    """The pairs with two different verdicts; faults are none."""
    found = zip(pairs, one, other, strict=True)
    return [(pair, mine, yours) for pair, mine, yours in found if mine != yours and "fault" not in (mine, yours)]
