"""What the envs of `vector.py` do in a step, the same for every side, and how many steps there would be at best.

- `fast`: nothing.
- `io`: wait. Latencies are lognormal with a mean of 50 ms and sigma 1.2, so one step in a hundred takes over 0.4 s.
- `tool`: wait, with the same spread and a mean of 1 s: a program, a search, an answer of a model.
- `constant`: wait 50 ms each time.
- `cpu`: a fixed number of rounds of Python, about 5 ms.
"""

import bisect
import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

MEAN = {"io": 0.05, "tool": 1.0, "constant": 0.05}
"""Seconds that a step of the kinds that wait takes on average."""
SIGMA = 1.2
EPISODE = 40
"""Steps of an episode, on every side."""


class Counted(NamedTuple):
    """How many steps arrived between two moments, in seconds since the first was asked for."""

    begin: float
    end: float
    steps: int


class Window:
    """Counts the steps that arrive in a stretch of time, after a warm-up that lets long waits come to their end.

    Both moments are those of an result, so that a side whose steps arrive in rounds is measured over whole rounds.
    """

    def __init__(self, kind: str) -> None:
        mean = MEAN.get(kind)
        self.warm_up = 0.2 if mean is None else max(1.0, 3 * mean)
        self.seconds = 1.0 if mean is None else max(5.0, 8 * mean)
        self._first: float | None = None
        self._begin: float | None = None
        self._steps = 0
        self.counted: Counted | None = None

    def start(self) -> None:
        """The first steps are asked for now."""
        self._first = time.perf_counter()

    def arrived(self, steps: int) -> bool:
        """Count `steps` that arrive now; whether to continue."""
        assert self._first is not None
        now = time.perf_counter() - self._first
        if self._begin is not None:
            self._steps += steps
            if self.counted is None and now >= self.warm_up + self.seconds:
                self.counted = Counted(self._begin, now, self._steps)
        elif now >= self.warm_up:
            self._begin = now
        return self.counted is None


def latencies(kind: str, slot: int) -> Iterator[float]:
    """Seconds of each step of `slot`; without end, and the same in every process."""
    generator = random.Random(f"latency {slot}")
    mean = MEAN[kind]
    while True:
        yield mean if kind == "constant" else generator.lognormvariate(math.log(mean) - SIGMA**2 / 2, SIGMA)


def ideal(kind: str, num_envs: int, counted: Counted) -> int:
    """Steps that would have arrived between the same moments, if no env ever waited for anything but its latencies."""
    steps = 0
    for slot in range(num_envs):
        ends = list(itertools.takewhile(lambda end: end <= counted.end, itertools.accumulate(latencies(kind, slot))))
        steps += len(ends) - bisect.bisect_right(ends, counted.begin)
    return steps


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


def calibrate(seconds: float = 0.005) -> int:
    """Rounds of `spin` that take about `seconds` here."""
    rounds = 200_000
    started = time.process_time()
    spin(rounds)
    return round(rounds * seconds / (time.process_time() - started))


def in_rounds(kind: str, step: Callable[[Sequence[object]], object], actions: Sequence[object]) -> Counted:
    """What a vector's `step` does, with all of `actions` each time."""
    window = Window(kind)
    window.start()
    step(actions)
    while window.arrived(len(actions)):
        step(actions)
    assert window.counted is not None
    return window.counted


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
