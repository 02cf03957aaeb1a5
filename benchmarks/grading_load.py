"""Verdicts on mathematical answers on an idle machine and beside busy processes.

    python benchmarks/grading_load.py [--busy 30] [--verdicts 2000] [--json FILE]

The pairs are those of `gem-envs-math/tests/grading/pairs.jsonl`, a few hostile answers, integrals that only math-verify
can evaluate, and the golds of `math:Sample` as answers to the row itself and to others. They are graded twice on the
machine as it is, and once beside the busy processes. A planted verdict, which wall time decides, shows that the
comparison would find one.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

from gem.data import open_table

TESTS = Path(__file__).parent.parent / "gem-envs-math" / "tests"
sys.path.insert(0, str(TESTS))
from busy_machine import busy, differences, verdict_by_the_clock, verdicts  # noqa: E402
from hostile import HOSTILE  # noqa: E402


def pairs(count):
    """The list, with `count` pairs."""
    table = [json.loads(line) for line in (TESTS / "grading" / "pairs.jsonl").read_text().splitlines()]
    golds = [row["answer"] for row in open_table("gem_envs_math:sample.jsonl")]
    integrals = [(rf"\int_0^{{{n}}} 2x \, dx", str(n**2 + n % 2)) for n in range(1, 151)]
    found = [(pair["answer"], pair["gold"]) for pair in table]
    found += integrals + [(answer, "9") for answer in HOSTILE[::20]]
    shifts = (list(zip(golds[shift:] + golds[:shift], golds, strict=True)) for shift in range(len(golds)))
    found += islice((pair for shift in shifts for pair in shift), max(0, count - len(found)))
    return list(islice(cycle(found), count))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", type=int, default=30, help="processes that calculate")
    parser.add_argument("--verdicts", type=int, default=2000)
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    graded = pairs(arguments.verdicts)
    report = {"cores": len(os.sched_getaffinity(0)), "busy processes": arguments.busy, "verdicts": len(graded)}
    seconds = {}

    def timed(name):
        started = time.perf_counter()
        found = verdicts(graded)
        seconds[name] = time.perf_counter() - started
        return found

    idle = timed("idle")
    again = timed("idle, again")
    print(seconds, file=sys.stderr, flush=True)
    with busy(arguments.busy):
        loaded = timed("busy")
        planted = verdicts(graded[:50], verdict_by_the_clock)
    report["seconds"] = seconds
    report["faults"] = {"idle": idle.count("fault"), "busy": loaded.count("fault")}
    report["differences of two idle runs"] = differences(graded, idle, again)
    report["differences of idle and busy"] = differences(graded, idle, loaded)
    report["planted verdicts by wall time that are found, of 50"] = len(
        differences(graded[:50], ["right"] * 50, planted)
    )
    report["rules"] = dict(Counter(each.partition(" by ")[2] for each in idle).most_common())
    text = json.dumps(report, indent=2)
    if arguments.json:
        arguments.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
