"""The figures of README and docs/benchmarks.md: measured, kept in benchmarks/figures.json, and written into the pages.

    python benchmarks/figures.py [NAME ...]    # measures these, or all, and writes the pages
    python benchmarks/figures.py --write       # writes the pages from benchmarks/figures.json alone

A table stands in a page between `<!-- figures: NAME -->` and `<!-- end of figures -->`, with the command that measured
it, the commit, and how busy others kept the machine meanwhile.
"""

import argparse
import ctypes
import importlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_suffix(".json")
COMMANDS = {
    "waiting": "vector.py --kinds io --num-envs 8,64,256",
    "tools": "vector.py --kinds tool --num-envs 64,1024,4096 --sides ours,verifiers --repeats 1",
    "computing": "vector.py --kinds cpu --num-envs 8,64",
    "overhead": "overhead.py",
    "wrappers": "wrappers.py",
    "sandbox": "sandbox.py --rounds 5",
    "judging": "judging.py --repeats 1",
    "grading": "grading.py --repeats 1",
    "grpo": "grpo_step.py --steps 4 --repeats 1",
    "chat": "llm_client.py --repeats 3",
    "serve": "serve.py --sessions 64,256 --repeats 3",
    "make": "make.py",
}
"""What measures each table."""
QUIET, TRIES = 0.05, 3
"""The share of the cores that others may use while a table is measured, and how often one beside more is measured."""
_SET_SUBREAPER = 36  # of prctl(2): processes whose parent has ended are this one's
_BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
Report = dict[str, Any]


def measure(name: str) -> Report:
    """The report of a table, with its command, the commit, and the load beside it.

    A table during which others needed the machine is measured again, and the one with the least load counts.
    """
    tries: list[Report] = []
    while len(tries) < TRIES and not (tries and tries[-1]["load"] <= QUIET):
        tries.append(_measured(name))
    return min(tries, key=lambda report: report["load"])


def _measured(name: str) -> Report:
    program, *arguments = shlex.split(COMMANDS[name])
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "report.json")
        command = [sys.executable, str(ROOT / "benchmarks" / program), *arguments, "--json", str(kept)]
        before, start = _others(), time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with suppress(ChildProcessError):  # what a benchmark has started and not waited for is its own
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        load = (_others() - before) / (time.monotonic() - start) / (os.cpu_count() or 1)
        report = json.loads(kept.read_text())
    said = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {"commit": said.stdout.strip(), "load": max(0.0, load), "command": COMMANDS[name], "report": report}


def _others() -> float:
    """CPU seconds of this machine so far that were not those of processes which this one has started and that ended."""
    # Linux proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; a guest's are in user's already.
    times = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK") - ours.ru_utime - ours.ru_stime


def table(name: str, kept: Report) -> str:
    """A table as Markdown, with where it is from."""
    module = importlib.import_module(kept["command"].partition(".py")[0])
    about = (
        f"`python benchmarks/{kept['command']}` at {kept['commit']}; beside it, other programs used "
        f"{kept['load']:.0%} of the cores."
    )
    return f"{about}\n\n{module.table(kept['report']).strip()}\n"


def in_readme(figures: dict[str, Report]) -> str:
    """The table of README: one row of each of five tables."""

    def speeds(name: str, of: str, num_envs: int) -> dict[tuple[str, str], float]:
        rows = figures[name]["report"]["results"]
        return {(row["side"], row["mode"]): row[of] for row in rows if row["num_envs"] == num_envs}

    waiting, computing = speeds("waiting", "of_ideal", 64), speeds("computing", "steps_per_second", 64)
    nothing = figures["overhead"]["report"]["steps_per_cpu_second"]["an env that does nothing"]
    program = figures["sandbox"]["report"]["milliseconds"]["a small program with input"]
    ours, without, inside = (f"{each['median']:.1f} ms" for each in program.values())
    steps = {row["side"]: row["cpu_seconds"] for row in figures["grpo"]["report"]["results"] if row["size"] == "small"}
    rows = [
        (
            "64 environments that wait 50 ms a step on average: steps per second, of those possible if nobody "
            "waited for others",
            f"{waiting['ours', 'thread free']:.1%}",
            f"verifiers {waiting['verifiers', 'asyncio']:.1%}, gem-llm {waiting['gem-llm', 'async']:.1%}, "
            f"Gymnasium {waiting['gymnasium', 'async']:.1%}",
            "waiting",
        ),
        (
            "steps per second, 64 environments that compute for 5 ms",
            f"{computing['ours', 'process free']:.0f}",
            f"Gymnasium {computing['gymnasium', 'async']:.0f}, gem-llm {computing['gem-llm', 'async']:.0f}",
            "computing",
        ),
        (
            "steps per CPU-second of an environment that does nothing",
            f"{nothing['ours, sync']:,.0f}",
            f"Gymnasium {nothing['gymnasium, sync']:,.0f}, gem-llm {nothing['gem-llm, sync']:,.0f}",
            "overhead",
        ),
        (
            "an untrusted program with input, from call to result",
            ours,
            f"gem-llm {without} without isolation, {inside} in bubblewrap",
            "sandbox",
        ),
        (
            "CPU seconds of a step of GRPO, 64 replies, a model of 5.5 million weights",
            f"{steps['gem-train']:.1f}",
            f"TRL {steps['TRL']:.1f}",
            "grpo",
        ),
    ]
    lines = [
        f"| measured on {figures['waiting']['report']['cores']} cores | GEM | others | command |",
        "|---|--:|---|---|",
    ]
    lines += [
        f"| {what} | {ours} | {others} | `python benchmarks/{COMMANDS[name]}` |" for what, ours, others, name in rows
    ]
    return "\n".join(lines) + "\n"


def written(text: str, figures: dict[str, Report]) -> str:
    """A page with its tables written anew. Raises `KeyError` for a table that is not measured."""

    def block(found: re.Match[str]) -> str:
        name = found[2]
        shown = in_readme(figures) if name == "readme" else table(name, figures[name])
        return f"{found[1]}\n{shown}\n{found[3]}"  # else Markdown would take the comments for a part of it

    return _BLOCK.sub(block, text)


PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"tables, of {', '.join(COMMANDS)}; all by default")
    parser.add_argument("--write", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - COMMANDS.keys():
        parser.error(f"there is no table {min(unknown)!r}; there are {', '.join(COMMANDS)}")
    ctypes.CDLL(None).prctl(_SET_SUBREAPER, 1)
    figures = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in [] if arguments.write else arguments.names or COMMANDS:
        print(f"{name}: python benchmarks/{COMMANDS[name]}", flush=True)
        figures[name] = measure(name)
        FILE.write_text(json.dumps(figures, indent=1) + "\n")
    if missing := COMMANDS.keys() - figures.keys():
        sys.exit(f"The pages are not written: {', '.join(sorted(missing))} are not measured yet.")
    for page in PAGES:
        page.write_text(written(page.read_text(), figures))


if __name__ == "__main__":
    main()
