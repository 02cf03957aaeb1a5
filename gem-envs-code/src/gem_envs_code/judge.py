"""Judge a program: run it on test cases in the sandbox and compare what it prints."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import zip_longest
from typing import NamedTuple

from gem_envs_code.tasks import Case
from gem_sandbox import Limits, Result, Sandbox

LIMITS = Limits(timeout=2.0, wall=10.0, memory=512 * 2**20, output=2**20)
"""Limits for a case. The wall-clock time is generous: a busy machine is not the program's fault."""


class Judgement(NamedTuple):
    """The result of a program on some cases."""

    passed: int
    failure: str | None
    """Which case failed first and how, in words that the program cannot choose; None if all passed."""


def judge(program: str, cases: Iterable[Case], box: Sandbox, limits: Limits = LIMITS) -> Judgement:
    """Run `program` on each case in the sandbox `box`.

    A case is passed if the program ends with status 0 and the right output (see `same_output`). After a case that ran
    out of time the rest are not run, and count as failed: a program that hangs on a case hangs on most.

    Raises:
        SandboxUnavailable: no level as strong as that of `box` works here.
        SandboxLost: the sandbox failed, which says nothing about the program.
    """
    verdict = box.run_tests(program, cases, same=same_output, stop="timeout", limits=limits)
    for number, case in enumerate(verdict.cases, start=1):
        if not case.passed:
            return Judgement(verdict.count, f"test {number}: {_fault(case.result)}")
    return Judgement(verdict.count, None)


def same_output(printed: bytes, right: bytes) -> bool:
    """Whether two outputs are the same, line by line.

    As in programming contests, spaces at the ends of a line, the number of spaces between words, and empty lines at the
    end are ignored; everything else must be equal byte for byte.
    """
    return all(ours == theirs for ours, theirs in zip_longest(_lines(printed), _lines(right)))


def _lines(text: bytes) -> Iterator[list[bytes]]:
    return (line.split() for line in BytesIO(text.rstrip()))


def _fault(result: Result) -> str:
    """The kind of a failure.

    The agent reads this, and the inputs are hidden. So it holds neither what the program wrote nor its exit status or
    signal, which could reveal the input. All that a program can choose is which of these few kinds it is.
    """
    return {"ok": "wrong output", "error": "an error", "killed": "a crash"}.get(result.reason, result.note)
