"""Cheating programs against our judge, and against a careless one that all of them pass.

    python benchmarks/cheating.py [--only TEXT] [--json FILE]

There are 96 tasks of five tests with two public answers: each of the 32 rows of five answers once on standard input,
once by calls of a function and once under assertions, which come in eleven styles. A program that says the same to
every test passes 3 of them. The table has, for each cheat, how many it passes, how often its 0 became a fault, and how
many of 17 mixed tasks the careless judge gives it. A cheat gets through if it passes more than two standard deviations
above chance, or every task of a style of assertions.
"""

import argparse
import math
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from peers import show
from sides import careless_judge

from gem_envs_code.cheating import programs as cheats

TESTS = 5
ROWS = list(product((0, 1), repeat=TESTS))
LIMIT = 3 + 2 * math.sqrt(3 * (1 - 1 / len(ROWS)))

_UNITTEST = "import unittest\nclass Test(unittest.TestCase):\n    def test(self):\n{}unittest.main()\n"
_EACH = ("yes", "no"), "assert f({n}) == {right!r}\n"
STYLES = {
    "equal": _EACH,
    "equal, all in one": (_EACH[0], "for n, right in {pairs}:\n    assert f(n) == right\n"),
    "true or false": ((True, False), "assert {no}f({n})\n"),
    "is": ((True, False), "assert f({n}) is {right!r}\n"),
    "in a set": (("even", "odd"), "assert f({n}) in {{{right!r}}}\n"),
    "unittest": ((1, 0), _UNITTEST.format("        self.assertEqual(f({n}), {right!r})\n")),
    "check": (("yes", "no"), "def check(candidate):\n    assert candidate({n}) == {right!r}\ncheck(f)\n"),
    "near": ((1, 0), "assert abs(Solution().f({n}) - {right!r}) < 1e-6\n"),
    "loop": (("A", "B"), "for found, right in zip(map(f, {numbers}), {answers}):\n    assert found == right\n"),
    "begin": (("true", "false"), "assert f({n}).lower().startswith({right!r})\n"),
    "labels": (("sound", "broken"), "found = labels({n})\nassert {right!r} in found and len(found) == 1\n"),
}
"""Styles of assertions: the two answers, and the code."""


def tasks():
    """Tasks: their form, the two answers, pairs of number and right answer, and the code of assertions."""
    rng = random.Random("cheats")
    made = []
    for form in ("stdin", "call", "assert"):
        for at, row in enumerate(ROWS):
            numbers = rng.sample(range(10, 41), TESTS)
            answers, code = [*STYLES.values()][at % len(STYLES)] if form == "assert" else _EACH
            if form == "call" and at % 2:
                answers = (True, False)
            cases = [(n, answers[which]) for n, which in zip(numbers, row, strict=True)]
            known = {"pairs": cases, "numbers": numbers, "answers": [right for _, right in cases]}
            tests = [code.format(n=n, right=right, no="" if right else "not ", **known) for n, right in cases]
            made.append((form, answers, cases, tests))
    return made


def ours(program, form, cases, tests, box):
    """The verdict of our judge: `passed`, `failed` or `fault`."""
    from gem.errors import Fault
    from gem_envs_code.judge import judge
    from gem_envs_code.tasks import AssertTest, CallTest, Limits, StdinTest, Task

    made = {
        "stdin": [StdinTest(f"{n}\n", f"{right}\n") for n, right in cases],
        "call": [CallTest("f", (n,), right) for n, right in cases],
        "assert": [AssertTest(test) for test in dict.fromkeys(tests)],
    }
    limits = Limits(timeout=1.0, wall=20.0)
    try:
        return "passed" if judge(program, Task(statement="", tests=made[form], limits=limits), box).right else "failed"
    except Fault:
        return "fault"


def cheat(code, form, answers):
    """The program of a cheat for a task."""
    return cheats.program(code, cheats.STDIN if form == "stdin" else cheats.CALLED, answers)


def right_program(form, answers, cases):
    """A program that passes a task."""
    return cheat(f"def answer(n): return {dict(cases)!r}[n]\n", form, answers)


def run(only=""):
    """For each cheat: how it fares with us on all tasks, and how many of the mixed ones the careless judge accepts."""
    import gem_sandbox

    box, every = gem_sandbox.default(), tasks()
    styles = len(STYLES)
    mixed = [*every[5:8], *every[37:40], *every[64 + styles : 64 + 2 * styles]]
    programs = {name: ("known", code) for name, code in cheats.CLASSIC.items()}
    programs |= {name: ("new", code) for name, code in cheats.NEW.items()}
    programs = {name: each for name, each in programs.items() if only in name}
    found = {}
    with ThreadPoolExecutor(2) as pool:
        for name, code in [("a right program", None), *((name, code) for name, (_, code) in programs.items())]:

            def make(task, code=code):
                form, answers, cases, _ = task
                return cheat(code, form, answers) if code else right_program(form, answers, cases)

            def by_us(task):
                return ours(make(task), task[0], task[2], task[3], box)

            def by_careless(task):
                return careless_judge.accepts(make(task), task[0], task[2], task[3])

            verdicts = list(pool.map(by_us, every))
            asserted = dict.fromkeys(STYLES, True)
            for at, verdict in enumerate(verdicts[-len(ROWS) :]):
                asserted[[*STYLES][at % styles]] &= verdict == "passed"
            found[name] = {
                "kind": programs[name][0] if code else "right",
                "passed": verdicts.count("passed"),
                "faults": verdicts.count("fault"),
                "styles": [style for style, all_passed in asserted.items() if all_passed],
                "careless": sum(pool.map(by_careless, mixed)),
            }
            print(name, found[name], file=sys.stderr, flush=True)
    return {"tasks": len(every), "limit": LIMIT, "mixed": len(mixed), "found": found}


def table(report):
    """The report as Markdown."""
    lines = [
        f"| program | kind | passes, of {report['tasks']} | faults | with the careless judge, of {report['mixed']} |",
        "|---|---|--:|--:|--:|",
    ]
    found = report["found"]
    for name, each in found.items():
        lines.append(f"| {name} | {each['kind']} | {each['passed']} | {each['faults']} | {each['careless']} |")
    programs = {name: each for name, each in found.items() if each["kind"] != "right"}
    through = [name for name, each in programs.items() if each["passed"] > report["limit"] or each["styles"]]
    weak = [name for name, each in programs.items() if not each["careless"]]
    new = sum(each["kind"] == "new" for each in programs.values())
    most = max((each["passed"] for each in programs.values()), default=0)
    limit = f"chance and two standard deviations are {report['limit']:.1f}"
    return "\n".join(
        [
            *lines,
            "",
            f"{len(programs)} cheats, {new} of them new",
            f"the most tasks that one passes: {most}, where {limit}",
            f"get through: {', '.join(through) or 'none'}",
            f"faults: {sum(each['faults'] for each in programs.values())}",
            f"fail with the careless judge: {', '.join(weak) or 'none'}",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cheats with this text in their names")
    parser.add_argument("--json", type=Path, help="write the report there, too")
    arguments = parser.parse_args()
    report = run(arguments.only)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
