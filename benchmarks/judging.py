"""Solutions of programming problems judged per second, compared with gem-llm's code environment in the same run.

    python benchmarks/judging.py [--repeats 5] [--json FILE]

A solution is a program for a problem with 12 tests. Each side judges solutions in two threads, with an environment
each, for two seconds per kind of solution; the sides take turns, and wrong verdicts are counted. The ratio says how
many times as many solutions per second ours judges. gem-llm runs a program on all 12 tests, with five at once, in
subprocesses behind a list of forbidden words; ours runs it in the sandbox. gem-llm has no tests of functions.

An infinite loop must be seen within its limit, here a second of processor time. The last table says how much later the
verdict comes, for a loop in each test, in the last one, and in a function: on the clock, which waits for other programs
of the machine, and in processor time of the programs that were run.
"""

import json
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from peers import ask, options, python_of, show
from sides import judging

SECONDS = 2.0
AT_ONCE = 2
SIDES = {"ours": judging.ours, "gem-llm": judging.gem_llm}
LOOPS = {
    "in every test": (judging.TESTS, "while True: pass"),
    "in the last test": (judging.TESTS, judging.SUM + "while n == 12: pass\nprint(sum(numbers))"),
    "in a function": (
        judging.CALLS,
        "def total(numbers):\n    while len(numbers) == 12: pass\n    return sum(numbers)",
    ),
}


def rate(side, name):
    """Solutions that a side judges per second, and how many of its verdicts were wrong."""
    make, judge = SIDES[side](name)
    ends = time.perf_counter() + SECONDS

    def work():
        env = make()
        verdicts = [judge(env)]
        start = time.perf_counter()
        while time.perf_counter() < ends or len(verdicts) == 1:
            verdicts.append(judge(env))
        return (len(verdicts) - 1) / (time.perf_counter() - start), verdicts.count(False)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        rates, wrong = zip(*[future.result() for future in [pool.submit(work) for _ in range(AT_ONCE)]], strict=True)
    return {"per second": sum(rates), "wrong": sum(wrong)}


def lateness(name):
    """Seconds beyond the limit of a loop until the verdict: on the clock, and of processor time."""
    from gem_envs_code.questions import CodeQuestion
    from gem_sandbox import Limits, Sandbox

    used, player = [], Sandbox.player

    def counted(box, job, limits):
        play = player(box, job, limits)

        def counting(stdin):
            level, outcome = play(stdin)
            used.append(outcome.cpu)
            return level, outcome

        return counting

    tests, code = LOOPS[name]
    env = CodeQuestion([{"problem": "", "tests": tests}], timeout=1.0)
    env.limits = Limits(timeout=1.0, wall=60)  # on a busy machine, the clock would end the program first
    env.reset(seed=0)
    Sandbox.player = counted
    try:
        start = time.perf_counter()
        observation = env.step(f"```\n{code}\n```").observation
        wall = time.perf_counter() - start
    finally:
        Sandbox.player = player
    assert "more than 1 s" in observation, observation
    return wall - 1.0, sum(used) - 1.0


_NONE = {"per second": 0.0}


def run(arguments):
    """Every number: solutions per second by kind and side, and seconds by loop."""
    pythons = {"ours": sys.executable, "gem-llm": python_of("gem-llm", arguments.venv_dir)}
    found = {name: {side: [] for side in SIDES} for name in judging.SOLUTIONS}
    late = {name: [] for name in LOOPS}
    for _ in range(arguments.repeats):
        for name in judging.SOLUTIONS:
            for side, python in pythons.items():
                if side == "ours" or not name.startswith("a function"):
                    found[name][side].append(json.loads(ask(python, __file__, "--side", side, "--solution", name)))
        for name in LOOPS:
            late[name].append(lateness(name))
    return {
        "cores": len(os.sched_getaffinity(0)),
        "solutions": found,
        "late": late,
    }


def table(report):
    """The report as Markdown: medians."""
    lines = ["| solution | ours | gem-llm | ÷ gem-llm | wrong verdicts: ours | gem-llm |", "|---|--:|--:|--:|--:|--:|"]
    for name, by_side in report["solutions"].items():
        ours, theirs = (statistics.median(each["per second"] for each in by_side[side] or [_NONE]) for side in SIDES)
        wrong = [sum(each["wrong"] for each in by_side[side]) for side in SIDES]
        # What took longer than a limit of the clock says nothing of the speed.
        ratio = "—" if not theirs or any(wrong) else f"{ours / theirs:.1f}"
        cells = [f"{theirs:.1f}/s", ratio, *map(str, wrong)] if theirs else ["—", ratio, str(wrong[0]), "—"]
        lines.append(f"| {name} | {ours:.1f}/s | {' | '.join(cells)} |")
    lines += ["", "| infinite loop | on the clock, median | processor time, median | most |", "|---|--:|--:|--:|"]
    for name, seconds in report["late"].items():
        clock, processor = zip(*seconds, strict=True)
        cells = f"{statistics.median(clock):.2f} s | {statistics.median(processor):.2f} s | {max(processor):.2f} s"
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def main():
    parser = options(__doc__.splitlines()[0], repeats=5)
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--solution", choices=judging.SOLUTIONS)
    arguments = parser.parse_args()
    if arguments.side:
        print(json.dumps(rate(arguments.side, arguments.solution)))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
