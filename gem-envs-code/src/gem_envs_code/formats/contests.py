"""Problems of programming contests: APPS, TACO, CodeContests, and the Codeforces problems of open-r1."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from gem.data.literals import plain
from gem.errors import Fault
from gem_envs_code.formats.columns import NO_SOLUTION, Row, Solution, solution, task, text, with_start
from gem_envs_code.rows import read_tests
from gem_envs_code.tasks import Task, Test

_OF_CODE_CONTESTS = {3: "python", 2: "cpp"}
"""The numbers of languages in CodeContests that programs here may be written in, the preferred one first."""

_SCORED = """import contextlib, io, os, sys
os.link("printed.txt", "solution_output.txt")
os.link("expected.txt", "correct_output.txt")
sys.argv = ["checker.py", "input.txt", "correct_output.txt", "solution_output.txt"]
said = io.StringIO()
with contextlib.redirect_stdout(said):
    try:
        exec(compile({checker!r}, "checker.py", "exec"), {{"__name__": "__main__"}})
    except SystemExit:
        pass
try:
    right = float(said.getvalue().split()[-1]) >= 1
except (IndexError, ValueError):
    right = False
sys.exit(not right)
"""
"""A checker of open-r1, which prints 1 for an output that is right, as one of ours, which says it with its status."""


def apps(row: Row) -> Task:
    """A row of APPS or TACO: `question`, `input_output` and `solutions`, the last two as JSON, and `starter_code`."""
    return task(
        row, with_start(row, text(row, "question")), read_tests(row["input_output"]), solution(row.get("solutions"))
    )


def code_contests(row: Row) -> Task:
    """A row of CodeContests: public, private and generated tests, each a list of pairs or a pair of lists."""
    if file := text(row, "input_file", "output_file"):
        raise Fault(f"the program would have to read or write the file {file!r}, and tests are on standard input")
    columns = (plain(row.get(f"{kind}_tests")) for kind in ("public", "private", "generated"))
    tests = [test for column in columns if _filled(column) for test in read_tests(column)]
    return task(row, text(row, "description"), tests, _preferred(plain(row.get("solutions"))))


def codeforces(row: Row) -> Task:
    """A row of open-r1's Codeforces problems: parts of a statement, `official_tests`, and maybe a checker."""
    if text(row, "interaction_format"):
        raise Fault("an interactive problem, whose tests need more than an input and an output")
    if text(row, "input_mode") == "file":
        raise Fault("a program for it reads and writes files, and tests are on standard input")
    parts = [text(row, "description")]
    parts += [f"{part.title()}: {said}" for part in ("input", "output") if (said := text(row, f"{part}_format"))]
    examples = cast("Sequence[Mapping[str, str]]", plain(row.get("examples")) or ())
    parts += [
        f"Example input:\n{each['input'].strip()}\n\nExample output:\n{each['output'].strip()}" for each in examples
    ]
    parts += [f"Note: {said}"] if (said := text(row, "note")) else []
    checker = text(row, "generated_checker")
    tests: Sequence[Test] = read_tests(row["official_tests"])
    return task(row, "\n\n".join(parts), tests, checker=_SCORED.format(checker=checker) if checker else "words")


def _filled(column: Any) -> bool:
    """Tell whether there are tests; the columns of a row may be empty, each for itself."""
    return any(cast("Row", column).values()) if isinstance(column, Mapping) else bool(column)


def _preferred(solutions: Any) -> Solution:
    """The first solution in a language that programs here may be written in, as CodeContests keeps them."""
    if isinstance(solutions, Mapping):
        columns = cast("Mapping[str, Sequence[Any]]", solutions)
        pairs = list(zip(columns.get("language", ()), columns.get("solution", ()), strict=True))
    else:
        pairs = [(each["language"], each["solution"]) for each in cast("Sequence[Row]", solutions or ())]
    for number, name in _OF_CODE_CONTESTS.items():
        for language, program in pairs:
            if language in (number, "PYTHON3" if name == "python" else "CPP"):
                return Solution(program, name)
    return NO_SOLUTION
