"""Overhead of the vector on cheap envs: ours, gem-llm's and gymnasium's, 64 envs in one thread.

    python benchmarks/overhead.py [--repeats 5] [--json FILE]

Guess the Number is played with the same guesses on both sides; its hard form has episodes of about seven turns and its
easy form of three or four, so that a quarter of the steps begin an episode. The env that does nothing shows a text of
60 characters, once alone and once inside `concat` and `episode_tracking` (gymnasium: `RecordEpisodeStatistics`), with
episodes of 20 turns. Numbers are steps per CPU-second: the median of the repeats, in which the sides take turns, of
the median of some runs in one process. gem-llm's async vector runs in threads, whose CPU time counts in full.
"""

import importlib
import json
import platform
import statistics
import sys
from argparse import SUPPRESS

from peers import PEERS, ask, options, python_of, show

NUM_ENVS = 64
MODES = {"ours": ("sync",), "gem-llm": ("sync", "async"), "gymnasium": ("sync",)}
MODULES = {"ours": "sides.ours", "gem-llm": "sides.gem_llm", "gymnasium": "sides.gymnasium_vector"}
CASES = {
    "Guess the Number, hard": {"game": "game:GuessTheNumber-v0-hard"},
    "Guess the Number, easy": {"game": "game:GuessTheNumber-v0-easy"},
    "an env that does nothing": {"game": None, "wrapped": False},
    "an env that does nothing, wrapped": {"game": None, "wrapped": True},
}


def measure(pythons, side, mode):
    """Steps per CPU-second of each case that this side has, in a process of its own."""
    return json.loads(ask(pythons[side], __file__, "--side", MODULES[side], mode))


def run(arguments):
    """Every number, by case, side and mode."""
    pythons = {"ours": sys.executable, **{peer: python_of(peer, arguments.venv_dir) for peer in MODES if peer in PEERS}}
    sides = [(side, mode) for side, modes in MODES.items() for mode in modes]
    rounds = {each: [] for each in sides}
    for _ in range(arguments.repeats):
        for side, mode in sides:
            rounds[side, mode].append(measure(pythons, side, mode))
    results = {
        case: {
            f"{side}, {mode}": statistics.median(each[case] for each in rounds[side, mode])
            for side, mode in sides
            if case in rounds[side, mode][0]
        }
        for case in CASES
    }
    return {
        "num_envs": NUM_ENVS,
        "python": platform.python_version(),
        "peers": {peer: PEERS[peer] for peer in MODES if peer in PEERS},
        "repeats": arguments.repeats,
        "steps_per_cpu_second": results,
    }


def table(report):
    """The report as Markdown."""
    columns = [f"{side}, {mode}" for side, modes in MODES.items() for mode in modes]
    lines = [f"| {report['num_envs']} envs | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    for case, numbers in report["steps_per_cpu_second"].items():
        cells = [f"{numbers[column]:,.0f}" if column in numbers else "" for column in columns]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=5)
    parser.add_argument("--side", nargs=2, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        module, mode = arguments.side
        side = importlib.import_module(module)
        made = {case: side.quick(mode, NUM_ENVS, **settings) for case, settings in CASES.items()}
        print(json.dumps({case: speed for case, speed in made.items() if speed is not None}))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
