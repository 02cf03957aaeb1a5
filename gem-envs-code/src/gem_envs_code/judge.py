"""Judging a program: running it against test cases and comparing what it prints."""

from collections.abc import Iterable
from typing import NamedTuple

from gem_envs_code.runner import DEFAULT_LIMITS, Limits, Result, run
from gem_envs_code.tasks import Case

_MOST_WORDS = 200
"""Characters of a program's own last words that a verdict repeats."""


class Judgement(NamedTuple):
    """How a program did against some cases."""

    passed: int
    failure: str | None
    """Which case failed first and how, without its input or its right output; None where all passed."""


def judge(program: str, cases: Iterable[Case], limits: Limits = DEFAULT_LIMITS) -> Judgement:
    """Run `program` on each case.

    A case is passed by ending with status 0 and the right output (see `same_output`). After one that ran out of time
    the rest are not run, and not passed: a program that hangs on one case hangs on most.
    """
    passed = 0
    failure: str | None = None
    for number, case in enumerate(cases, start=1):
        result = run(program, case.input, limits)
        verdict = _fault(result, case, limits)
        if verdict is None:
            passed += 1
        elif failure is None:
            failure = f"test {number}: {verdict}"
        if result.ending == "out of time":
            break
    return Judgement(passed, failure)


def same_output(printed: str, right: str) -> bool:
    """Whether two outputs are the same, line by line.

    As programming contests have it, the spaces at the ends of a line, their number between words, and empty lines at
    the end do not count; everything else does.
    """
    return _lines(printed) == _lines(right)


def _lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.rstrip().split("\n")]


def _fault(result: Result, case: Case, limits: Limits) -> str | None:
    if result.ending == "out of time":
        return f"out of time ({limits.cpu_seconds} s of processor time, {limits.seconds:g} s in all)"
    if result.ending == "too much output":
        return f"more than {limits.output} bytes of output"
    if result.status < 0:
        return f"ended by signal {-result.status}"
    if result.status > 0:
        last_words = result.errors.rstrip().rpartition("\n")[2][:_MOST_WORDS]
        return f"ended with status {result.status}" + (f" ({last_words})" if last_words else "")
    return None if same_output(result.output, case.output) else "wrong output"
