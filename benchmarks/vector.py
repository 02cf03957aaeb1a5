"""Throughput of the vector engine, compared with the vectors of gem-llm and gymnasium and the rollouts of verifiers.

The envs are fast, or wait, or compute.

    python benchmarks/vector.py [--kinds fast,io,tool,constant,cpu] [--num-envs 1,8,64] [--repeats 1] [--json FILE]

Every side plays for some seconds after a warm-up, in episodes of 40 steps, and the steps that arrive in that time are
counted. The barrier forms step all envs in rounds; the barrier-free form gives each env its next action when it has
answered the last. Envs that wait are compared with the ideal: the steps that the same latencies would bring in the same
time if no env ever waited for another. The other kinds are in steps per second. Each number is the median of the
repeats, in which the sides take turns; making the envs is not counted.

The others are installed from PyPI into virtual environments of their own, and kept for the next run. verifiers plays
rollouts with a model that answers at once, as many at a time as there are envs, and begins a new one for each episode,
where the others continue with an autoreset. gymnasium's async vector has one process per env, of about
40 MB each; it is left out above 64 envs.
"""

import importlib
import json
import os
import platform
import statistics
import sys
from argparse import SUPPRESS

from peers import PEERS, ask, options, python_of, show
from workloads import MEAN, Counted, calibrate, ideal

MODES = {
    "ours": ("sync barrier", "thread barrier", "thread free", "process barrier", "process free"),
    "gem-llm": ("sync", "async"),
    "gymnasium": ("sync", "async"),
    "verifiers": ("asyncio",),
}
MODULES = {
    "ours": "sides.ours",
    "gem-llm": "sides.gem_llm",
    "gymnasium": "sides.gymnasium_vector",
    "verifiers": "sides.verifiers_rollouts",
}
MOST_PROCESSES = 64
"""Envs of gymnasium's async vector: one process each."""
WORTHWHILE = ("thread", "async")
"""Where envs wait, what does one step after another takes minutes and says nothing."""


def cases(kind, num_envs):
    """The sides and modes that take part."""
    for side, modes in MODES.items():
        for mode in modes:
            if kind in MEAN and num_envs > 1 and not mode.startswith(WORTHWHILE):
                continue
            if side == "gymnasium" and mode == "async" and num_envs > MOST_PROCESSES:
                continue
            if side == "verifiers" and kind not in MEAN:  # coroutines share one thread: they can only wait at once
                continue
            yield side, mode


def measure(pythons, side, mode, kind, num_envs, rounds):
    """Steps per second, and their share of the ideal, in a process of its own."""
    case = {"mode": mode, "kind": kind, "num_envs": num_envs, "rounds": rounds}
    counted = Counted(*json.loads(ask(pythons[side], __file__, "--play", MODULES[side], json.dumps(case))))
    share = counted.steps / ideal(kind, num_envs, counted) if kind in MEAN else None
    return counted.steps / (counted.end - counted.begin), share


def run(arguments):
    """Every number, by kind and number of envs."""
    pythons = {
        "ours": sys.executable,
        **{peer: python_of(peer, arguments.venv_dir) for peer in PEERS if peer in arguments.sides},
    }
    rounds = calibrate()
    results = []
    for kind in arguments.kinds:
        for num_envs in arguments.num_envs:
            taken = {case: [] for case in cases(kind, num_envs) if case[0] in arguments.sides}
            for _ in range(arguments.repeats):
                for (side, mode), numbers in taken.items():
                    numbers.append(measure(pythons, side, mode, kind, num_envs, rounds))
            for (side, mode), numbers in taken.items():
                speeds, shares = zip(*numbers, strict=True)
                results.append(
                    {
                        "kind": kind,
                        "num_envs": num_envs,
                        "side": side,
                        "mode": mode,
                        "steps_per_second": statistics.median(speeds),
                        "of_ideal": statistics.median(shares) if kind in MEAN else None,
                    }
                )
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "peers": PEERS,
        "repeats": arguments.repeats,
        "results": results,
    }


def table(report):
    """The report as Markdown: a table a kind, a row a side and mode, a column a number of envs."""
    lines = []
    for kind in dict.fromkeys(result["kind"] for result in report["results"]):
        chosen = [result for result in report["results"] if result["kind"] == kind]
        columns = list(dict.fromkeys(result["num_envs"] for result in chosen))
        cells = {(result["side"], result["mode"], result["num_envs"]): _cell(result) for result in chosen}
        rows = list(dict.fromkeys((result["side"], result["mode"]) for result in chosen))
        unit = "share of the ideal" if kind in MEAN else "steps per second"
        lines += [f"`{kind}`: {unit}", "", f"| | {' | '.join(f'{n:,}' for n in columns)} |"]
        lines += [f"|---|{'--:|' * len(columns)}"]
        for side, mode in rows:
            lines.append(f"| {side}, {mode} | {' | '.join(cells.get((side, mode, n), '') for n in columns)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(result):
    return f"{result['of_ideal']:.1%}" if result["of_ideal"] is not None else f"{result['steps_per_second']:,.0f}"


def _numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = options(__doc__.splitlines()[0], repeats=3)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=["fast", "io", "tool", "constant", "cpu"])
    parser.add_argument("--num-envs", type=_numbers, default=[1, 8, 64, 256, 1024])
    parser.add_argument("--sides", type=lambda text: text.split(","), default=list(MODES))
    parser.add_argument("--play", nargs=2, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        module, case = arguments.play
        print(json.dumps(importlib.import_module(module).play(json.loads(case))))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
