"""Accuracy and speed of the grader of mathematical answers, beside gem-llm's and bare math-verify, in one run.

    python benchmarks/grading.py [--repeats 3] [--json FILE]

The table is `gem-envs-math/tests/grading/pairs.jsonl`. Each side grades each pair once per repeat, with two workers;
the sides take turns. gem-llm's workers are two environments, each with its process, as it comes; math-verify's are two
processes with a half of the pairs each. Ours are two threads, which share the two processes of the grader's pool; what
was read is forgotten before each repeat.

The hostile answers are those of `gem-envs-math/tests/hostile.py`, with half a second each. After each of them a right
answer follows, which only math-verify can tell from a wrong one.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peers import PEERS, options, python_of, show

from gem_envs_math.grading import grade
from gem_envs_math.grading.answers import forget
from gem_envs_math.grading.pool import POOL

TESTS = Path(__file__).parent.parent / "gem-envs-math" / "tests"
PAIRS = [json.loads(line) for line in (TESTS / "grading" / "pairs.jsonl").read_text().splitlines()]
STRICT = ("units", "percent")
"""Kinds in which a false accept counts apart."""
WORKERS = 2
SECONDS = 0.5


class Peer:
    """Two processes of a peer's grader."""

    def __init__(self, name, python):
        side = Path(__file__).parent / "sides" / "grading_peer.py"
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environ}
        self.workers = [
            subprocess.Popen([str(python), str(side), name], stderr=subprocess.DEVNULL, **pipes) for _ in range(WORKERS)
        ]
        for worker in self.workers:
            if not worker.stdout.readline():
                raise SystemExit(f"{name} does not start: run {python} {side} {name}")

    def grade(self, pairs):
        """The seconds until the last verdict, and all verdicts."""
        halves = [pairs[number::WORKERS] for number in range(WORKERS)]
        started = time.perf_counter()
        for worker, half in zip(self.workers, halves, strict=True):
            worker.stdin.write(json.dumps(half) + "\n")
            worker.stdin.flush()
        answers = [json.loads(worker.stdout.readline())[1] for worker in self.workers]
        taken = time.perf_counter() - started
        verdicts = [None] * len(pairs)
        for number, half in enumerate(answers):
            verdicts[number::WORKERS] = half
        return taken, verdicts

    def close(self):
        """End the processes."""
        for worker in self.workers:
            worker.stdin.close()
            worker.kill()
            worker.wait()


class Ours:
    """The grader, in two threads."""

    def __init__(self):
        grade("\\sqrt{2}", "\\sqrt{3}")

    def grade(self, pairs):
        """The seconds until the last verdict, and all verdicts."""
        forget()
        with ThreadPoolExecutor(WORKERS) as threads:
            started = time.perf_counter()
            verdicts = list(threads.map(lambda pair: grade(*pair).right, pairs, chunksize=1))
            return time.perf_counter() - started, verdicts

    def close(self):
        """End the processes."""
        POOL.close()


def accuracy(verdicts):
    """How many verdicts are right: of all, of the worst kind, false accepts of the strict kinds."""
    kinds = Counter(pair["kind"] for pair in PAIRS)
    wrong = [(pair, verdict) for pair, verdict in zip(PAIRS, verdicts, strict=True) if pair["right"] != verdict]
    faults = Counter(pair["kind"] for pair, _ in wrong)
    worst = min(kinds, key=lambda kind: 1 - faults[kind] / kinds[kind])
    return {
        "accuracy": 1 - len(wrong) / len(PAIRS),
        "worst kind": [worst, 1 - faults[worst] / kinds[worst]],
        "false accepts": sum(verdict for _, verdict in wrong),
        "false rejects": sum(not verdict for _, verdict in wrong),
        "false accepts of units and percents": sum(verdict for pair, verdict in wrong if pair["kind"] in STRICT),
        "wrong": [[pair["gold"], pair["answer"]] for pair, _ in wrong],
    }


def hostile():
    """How late the verdicts on hostile answers are, and how fast the right answers after them."""
    sys.path.insert(0, str(TESTS))
    from hostile import HOSTILE

    gold, right, wrong = "9", r"\int_0^3 2x \, dx", "10"
    late, after, faults = [], [], 0
    grade(right, gold)
    for answer in HOSTILE:
        started = time.perf_counter()
        accepted = grade(answer, gold, seconds=SECONDS).right
        verdict = time.perf_counter()
        is_right = grade(right, gold).right
        after.append(time.perf_counter() - verdict)
        late.append(verdict - started - SECONDS)
        faults += accepted or not is_right or grade(right, wrong).right
    return {
        "answers": len(HOSTILE),
        "wrong verdicts": faults,
        "latest, seconds after the deadline": max(late),
        "next right answer, slowest, milliseconds": 1000 * max(after),
        "next right answer, median, milliseconds": 1000 * statistics.median(after),
    }


def run(arguments):
    """Every number, by side."""
    python = python_of("gem-llm", arguments.venv_dir)
    sides = {"ours": Ours(), "gem-llm": Peer("gem-llm", python), "math-verify": Peer("math-verify", python)}
    pairs = [(pair["answer"], pair["gold"]) for pair in PAIRS]
    seconds = {name: [] for name in sides}
    verdicts = {}
    for _ in range(arguments.repeats):
        for name, side in sides.items():
            taken, verdicts[name] = side.grade(pairs)
            seconds[name].append(taken)
    report = {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "peers": {"gem-llm": PEERS["gem-llm"]},
        "pairs": len(PAIRS),
        "kinds": len({pair["kind"] for pair in PAIRS}),
        "sides": {
            name: {"grades per second": len(pairs) / statistics.median(seconds[name]), **accuracy(verdicts[name])}
            for name in sides
        },
        "hostile": hostile(),
    }
    for side in sides.values():
        side.close()
    return report


def table(report):
    """The report as Markdown."""
    lines = [
        "| grader | accuracy | worst kind | false accepts | of units and percents | false rejects | grades/s |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, side in report["sides"].items():
        kind, worst = side["worst kind"]
        strict = side["false accepts of units and percents"]
        numbers = f"{side['false accepts']} | {strict} | {side['false rejects']} | {side['grades per second']:.0f}"
        lines.append(f"| {name} | {side['accuracy']:.3f} | {worst:.3f} ({kind}) | {numbers} |")
    return "\n".join(lines)


def main():
    arguments = options(__doc__.splitlines()[0], 3).parse_args()
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
