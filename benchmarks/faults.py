"""A vector whose envs raise, die and hang: every fault is reported, and no resources are left.

    python benchmarks/faults.py [--num-envs 1024] [--steps 100000] [--json FILE]

Envs in worker processes are made, at random, to raise an exception or end their process (1% of the steps) or to hang
past the deadline (0.1%); each answer is checked against what was asked for. Child processes, threads, open files and
temporary files are counted before and after. Memory is the workers' proportional share (PSS), interpreters included.
"""

import argparse
import gc
import os
import random
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from peers import show

import gem

ERRORS = {"raise": "ZeroDivisionError", "die": "WorkerLost", "hang": "TimeoutError"}
FAULTS = {"hang": 0.001, "die": 0.001, "raise": 0.009}
DEADLINE = 3.0


class Faulty(gem.TurnEnv):
    """Does what its action says, in episodes of 20 turns."""

    def __init__(self):
        super().__init__(max_turns=20)

    def _reset(self, options):
        return "What shall I do?"

    def _step(self, action):
        if action == "raise":
            raise ZeroDivisionError
        if action == "die":
            os.kill(os.getpid(), 9)
        if action == "hang":
            time.sleep(3600)
        return gem.Step.ongoing(f"turn {self.turn}")

    def sample_action(self):
        return "continue"


def children():
    """Process ids of this process's children."""
    return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def megabytes(pids):
    """Their proportional share of the memory, in all."""
    rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in pids]
    return sum(int(rollup.split("\nPss:")[1].split()[0]) for rollup in rollups) / 1024


def held():
    """What this process holds, by kind."""
    gc.collect()
    return {
        "child processes": len(children()),
        "threads": threading.active_count(),
        "open files": len(os.listdir("/proc/self/fd")),
        "temporary files": len(os.listdir(tempfile.gettempdir())),
    }


def draw(generator):
    """What to tell an env next."""
    share = generator.random()
    for fault, probability in FAULTS.items():
        if share < probability:
            return fault
        share -= probability
    return "continue"


def play(envs, steps):
    """Tell the envs what to do until `steps` answers have come; how often each fault was ordered and reported."""
    generator = random.Random(5)
    orders = {slot: draw(generator) for slot in range(envs.num_envs)}
    ordered = Counter(orders.values())
    reported = Counter()
    envs.reset()
    envs.send(orders)
    answers = 0
    while answers < steps:
        results = envs.recv()
        answers += len(results)
        for slot, _, failure in results:
            error = failure and failure.error.split(":")[0]
            assert error == ERRORS.get(orders[slot]), (slot, orders[slot], failure)
            reported[orders[slot]] += 1
        again = [result.slot for result in results][: max(0, steps - ordered.total())]
        orders |= {slot: draw(generator) for slot in again}
        ordered.update(orders[slot] for slot in again)
        envs.send({slot: orders[slot] for slot in again})
    return ordered, reported


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num-envs", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder  # the count of temporary files is of ours alone
        before = held()
        started = time.monotonic()
        with gem.make_vec(
            "faults:Faulty", arguments.num_envs, backend="process", seed=1, step_timeout=DEADLINE
        ) as envs:
            made = time.monotonic() - started
            megabytes_an_env = megabytes(children()) / arguments.num_envs
            workers = len(children())
            started = time.monotonic()
            ordered, reported = play(envs, arguments.steps)
            seconds = time.monotonic() - started
        after = held()
    report = {
        "num_envs": arguments.num_envs,
        "workers": workers,
        "seconds_to_make": made,
        "megabytes_an_env": megabytes_an_env,
        "steps": arguments.steps,
        "seconds": seconds,
        "ordered": dict(ordered),
        "reported": dict(reported),
        "before": before,
        "after": after,
    }
    rows = ["| | ordered | reported |", "|---|--:|--:|"]
    rows += [f"| {order} | {ordered[order]:,} | {reported[order]:,} |" for order in ("continue", *FAULTS)]
    rows += ["", "| held | before | after |", "|---|--:|--:|"]
    rows += [f"| {kind} | {before[kind]} | {after[kind]} |" for kind in before]
    show(report, "\n".join(rows), arguments.json)


if __name__ == "__main__":
    main()
