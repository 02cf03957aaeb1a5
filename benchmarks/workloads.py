"""What the envs of `vector.py` do in a step, the same for every side, and how long it would take at best.

- `fast`: nothing.
- `io`: wait. Latencies are lognormal with a mean of 50 ms and sigma 1.2, so one step in a hundred takes over 0.4 s.
- `constant`: wait 50 ms each time.
- `cpu`: a fixed number of rounds of Python, about 5 ms.
"""

import heapq
import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

MEAN = 0.05
SIGMA = 1.2


def latencies(kind: str, slot: int) -> Iterator[float]:
    """Seconds of each step of `slot`; without end, and the same in every process."""
    generator = random.Random(f"latency {slot}")
    while True:
        yield MEAN if kind == "constant" else generator.lognormvariate(math.log(MEAN) - SIGMA**2 / 2, SIGMA)


def spin(rounds: int) -> int:
    """Keep the interpreter busy."""
    value = 1
    for _ in range(rounds):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
    return value


def worker(kind: str, slot: int, rounds: int) -> Callable[[], object]:
    """What a step of `slot` does."""
    if kind == "fast":
        return lambda: None
    if kind == "cpu":
        return lambda: spin(rounds)
    waits = latencies(kind, slot)
    return lambda: time.sleep(next(waits))


def ideal(kind: str, num_envs: int, steps: int) -> float:
    """Seconds until `steps` steps are done in all, if no env ever waited for anything but its own latencies."""
    waits = [latencies(kind, slot) for slot in range(num_envs)]
    ends = [(next(each), slot) for slot, each in enumerate(waits)]
    heapq.heapify(ends)
    now = 0.0
    for _ in itertools.repeat(None, steps):
        now, slot = ends[0]
        heapq.heapreplace(ends, (now + next(waits[slot]), slot))
    return now


def calibrate(seconds: float = 0.005) -> int:
    """Rounds of `spin` that take about `seconds` here."""
    rounds = 200_000
    started = time.process_time()
    spin(rounds)
    return round(rounds * seconds / (time.process_time() - started))


def in_rounds(step: Callable[[Sequence[object]], object], actions: Sequence[object], steps: int) -> float:
    """Seconds until a vector's `step` has done `steps` steps in all, with all of `actions` each time."""
    started = time.perf_counter()
    for _ in range(steps // len(actions)):
        step(actions)
    return time.perf_counter() - started


TEXT = "x" * 60
TURNS = 20
GUESSES = [f"\\boxed{{{i * 7 % 50 + 1}}}" for i in range(997)]
RUNS, STEPS = 5, 500


def speed(step: Callable[[list[str]], object], num_envs: int) -> float:
    """Steps per CPU-second of a vector's `step`: the median of some runs, after one to warm up."""
    taken: list[float] = []
    for _ in range(RUNS + 1):
        started = time.process_time()
        for turn in range(STEPS):
            first = turn % (len(GUESSES) - num_envs)
            step(GUESSES[first : first + num_envs])
        taken.append(time.process_time() - started)
    return STEPS * num_envs / statistics.median(taken[1:])
