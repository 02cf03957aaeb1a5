"""Comparison of verdicts on an idle machine with those beside busy processes, for `grading_load` and `judging_load`."""

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent.parent / "gem-envs-math" / "tests"
sys.path.insert(0, str(TESTS))
from busy_machine import busy, differences, verdict_by_the_clock, verdicts  # noqa: E402


def compare(about, judged, verdict, count, *, apart=False):
    """Judge a list twice on the machine as it is, and once beside busy processes; print and write the report.

    Args:
        about: the first line of the program's help.
        judged: makes the list, of so many items.
        verdict: the verdict on an item, which may be `fault`.
        count: items by default.
        apart: whether each busy process is in a session of its own: see `busy_machine.busy`.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--busy", type=int, default=30, help="processes that calculate")
    parser.add_argument("--verdicts", type=int, default=count)
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    items = judged(arguments.verdicts)
    seconds = {}

    def timed(name):
        started = time.perf_counter()
        found = verdicts(items, verdict)
        seconds[name] = time.perf_counter() - started
        print(f"{name}: {seconds[name]:.1f} s", file=sys.stderr, flush=True)
        return found

    idle, again = timed("idle"), timed("idle, again")
    with busy(arguments.busy, apart=apart):
        loaded = timed("busy")
        planted = verdicts(items[:50], verdict_by_the_clock)
    report = {
        "cores": len(os.sched_getaffinity(0)),
        "busy processes": arguments.busy,
        "verdicts": len(items),
        "seconds": seconds,
        "faults": {"idle": idle.count("fault"), "busy": loaded.count("fault")},
        "differences of two idle runs": differences(items, idle, again),
        "differences of idle and busy": differences(items, idle, loaded),
        "planted verdicts by wall time that are found, of 50": len(differences(items[:50], ["right"] * 50, planted)),
        "idle verdicts": dict(Counter(idle).most_common()),
    }
    text = json.dumps(report, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)
