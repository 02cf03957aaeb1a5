"""Judging a program: running it in the sandbox on test cases and comparing what it prints."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import zip_longest
from typing import NamedTuple

from gem.sandbox import Limits, Result, Sandbox
from gem_envs_code.tasks import Case

LIMITS = Limits(timeout=2.0, wall=10.0, memory=512 * 2**20, output=2**20)
"""What a program may use for one case. The wall-clock time is generous: a busy machine is not the program's fault."""


class Judgement(NamedTuple):
    """How a program did against some cases."""

    passed: int
    failure: str | None
    """Which case failed first and how, in words that no program chooses; None where all passed."""


def judge(program: str, cases: Iterable[Case], box: Sandbox, limits: Limits = LIMITS) -> Judgement:
    """Run `program` on each case in the sandbox `box`.

    A case is passed by ending with status 0 and the right output (see `same_output`). After one that ran out of time
    the rest are not run, and not passed: a program that hangs on one case hangs on most.

    Raises:
        SandboxUnavailable: nothing as strong as the level of `box` works here.
        SandboxLost: the sandbox failed; nothing is known about the program.
    """
    verdict = box.run_tests(program, cases, same=same_output, stop="timeout", limits=limits)
    for number, case in enumerate(verdict.cases, start=1):
        if not case.passed:
            return Judgement(verdict.count, f"test {number}: {_fault(case.result)}")
    return Judgement(verdict.count, None)


def same_output(printed: bytes, right: bytes) -> bool:
    """Whether two outputs are the same, line by line.

    As programming contests have it, the spaces at the ends of a line, their number between words, and empty lines at
    the end do not count; everything else does, byte for byte.
    """
    return all(ours == theirs for ours, theirs in zip_longest(_lines(printed), _lines(right)))


def _lines(text: bytes) -> Iterator[list[bytes]]:
    return (line.split() for line in BytesIO(text.rstrip()))


def _fault(result: Result) -> str:
    """What was wrong with a program that ended like this and failed.

    The agent reads this, and the inputs are hidden. So it holds neither what the program wrote nor its exit status or
    signal: it could say its input with that. Which of these few kinds it is, is all that a program can choose.
    """
    return {"ok": "wrong output", "error": "an error", "killed": "a crash"}.get(result.reason, result.note)
