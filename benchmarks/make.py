"""Cost of `gem.make` after the first call, compared with gem-llm's.

    python benchmarks/make.py [--repeats 5] [--json FILE]

Microseconds of CPU time for one call: the median of the repeats, in which the sides take turns, of the median of some
runs in one process.
"""

import importlib
import json
import platform
import statistics
import sys
import time
from argparse import SUPPRESS

from peers import PEERS, ask, options, python_of, show

MODULES = {"ours": "sides.ours", "gem-llm": "sides.gem_llm"}
IDS = ("game:GuessTheNumber-v0-easy", "game:Mastermind-v0-easy", "game:Minesweeper-v0-easy", "game:Sudoku-v0-easy")
RUNS, CALLS = 9, 500


def measure(make):
    """Microseconds of a call, by id."""
    results = {}
    for id in IDS:
        make(id)
        taken = []
        for _ in range(RUNS):
            started = time.process_time()
            for _ in range(CALLS):
                make(id)
            taken.append(1e6 * (time.process_time() - started) / CALLS)
        results[id] = statistics.median(taken)
    return results


def run(arguments):
    """Microseconds by id and side."""
    pythons = {"ours": sys.executable, "gem-llm": python_of("gem-llm", arguments.venv_dir)}
    rounds = {side: [] for side in MODULES}
    for _ in range(arguments.repeats):
        for side, module in MODULES.items():
            rounds[side].append(json.loads(ask(pythons[side], __file__, "--side", module)))
    return {
        "python": platform.python_version(),
        "peer": PEERS["gem-llm"],
        "repeats": arguments.repeats,
        "microseconds": {
            id: {side: statistics.median(each[id] for each in rounds[side]) for side in MODULES} for id in IDS
        },
    }


def table(report):
    """The report as Markdown."""
    lines = ["| microseconds | ours | gem-llm |", "|---|--:|--:|"]
    for id, numbers in report["microseconds"].items():
        lines.append(f"| `{id}` | {numbers['ours']:.1f} | {numbers['gem-llm']:.1f} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=5)
    parser.add_argument("--side", help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(measure(importlib.import_module(arguments.side).make)))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
