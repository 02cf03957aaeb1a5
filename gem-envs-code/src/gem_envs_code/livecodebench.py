"""Judging as LiveCodeBench does: `like="livecodebench"`.

Source: `lcb_runner/evaluation/testing_util.py` of LiveCodeBench.
"""

from dataclasses import replace
from decimal import Decimal

from gem_envs_code.imports import with_imports
from gem_envs_code.tasks import CallTest, Task

RECURSION = 50_000
"""The recursion limit of programs."""

_PROGRAM = """import sys
sys.setrecursionlimit({limit})
try:
    exec(compile({source!r}, "main.py", "exec"), globals())
except SystemExit:
    pass
"""


def like_livecodebench(task: Task) -> Task:
    """The task with the comparisons of LiveCodeBench; those of rows, checkers too, are left out."""
    tests = [
        replace(test, same="livecodebench", or_first=False) if isinstance(test, CallTest) else test
        for test in task.tests
    ]
    return replace(task, tests=tuple(tests), checker="livecodebench", tolerance=0.0)


def as_program(source: str) -> str:
    """A program as LiveCodeBench runs it: with a deep recursion, and any exit counts as its end."""
    return _PROGRAM.format(limit=RECURSION, source=with_imports(source))


def same_lines(printed: bytes, right: bytes, tolerance: float = 0.0) -> bool:
    """Compare two outputs line by line: texts without the white space around them, or else all words as decimals."""
    ours, theirs = (text.decode("utf-8", "replace").strip().split("\n") for text in (printed, right))
    return len(ours) == len(theirs) and all(map(_same_line, ours, theirs))


def _same_line(ours: str, theirs: str) -> bool:
    if ours.strip() == theirs.strip():
        return True
    try:
        return [Decimal(word) for word in ours.split()] == [Decimal(word) for word in theirs.split()]
    except ArithmeticError:
        return False
