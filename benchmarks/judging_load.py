"""Verdicts on programs on an idle machine and beside busy processes.

    python benchmarks/judging_load.py [--busy 30] [--verdicts 300] [--json FILE]

The tasks are those of `code:Sample`, with a second of processor time for each test. Their programs are their
solutions, as they are, after half a second of calculating and after half a second of sleep; the solutions of others, a
program that does nothing, and one that never ends. They are judged twice on the machine as it is, and once beside the
busy processes. A planted verdict, which wall time decides, shows that the comparison would find one.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import gem
from gem.data import open_table
from gem.errors import Fault

sys.path.insert(0, str(Path(__file__).parent.parent / "gem-envs-math" / "tests"))
from busy_machine import busy, differences, verdict_by_the_clock, verdicts

SLOW = 3
"""Tasks with a program that calculates, one that sleeps, and one that never ends."""
CALCULATES = "import time\nwhile time.process_time() < 0.5: pass\n"
SLEEPS = "import time\ntime.sleep(0.5)\n"


def programs(count):
    """The list: numbers of tasks, and programs."""
    solutions = [row["solution"] for row in open_table("gem_envs_code:sample.jsonl")]
    many = len(solutions)
    found = [(task, first + solutions[task]) for task in range(SLOW) for first in (CALCULATES, SLEEPS)]
    found += [(task, "while True: pass") for task in range(SLOW)] + [(task, "pass") for task in range(many)]
    others = ((task, solutions[(task + shift) % many]) for shift in range(many) for task in range(many))
    return found + list(islice(others, max(0, count - len(found))))


def verdict(judged):
    """The verdict on a program, or `fault`."""
    task, program = judged
    env = gem.make("code:Sample", timeout=1.0)
    env.reset(options={"index": task})
    try:
        return "right" if env.step(f"```python\n{program}\n```").info["success"] else "wrong"
    except Fault:
        return "fault"
    finally:
        env.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", type=int, default=30, help="processes that calculate")
    parser.add_argument("--verdicts", type=int, default=300)
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    judged = programs(arguments.verdicts)
    seconds = {}

    def timed(name):
        started = time.perf_counter()
        found = verdicts(judged, verdict)
        seconds[name] = round(time.perf_counter() - started, 1)
        print(name, seconds[name], "s", file=sys.stderr, flush=True)
        return found

    idle, again = timed("idle"), timed("idle, again")
    with busy(arguments.busy, apart=True):
        loaded = timed("busy")
        planted = verdicts(judged[:50], verdict_by_the_clock)
    report = {
        "cores": len(os.sched_getaffinity(0)),
        "busy processes": arguments.busy,
        "verdicts": dict(Counter(idle)),
        "seconds": seconds,
        "faults": {"idle": idle.count("fault"), "busy": loaded.count("fault")},
        "differences of two idle runs": differences(judged, idle, again),
        "differences of idle and busy": differences(judged, idle, loaded),
        "planted verdicts by wall time that are found, of 50": len(differences(judged[:50], ["right"] * 50, planted)),
    }
    text = json.dumps(report, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
