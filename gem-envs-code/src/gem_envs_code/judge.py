"""Judge a program: run it on the tests of a task in the sandbox, and compare outside of it.

What is expected never enters a process in which the program runs.
"""

from typing import NamedTuple

from gem_envs_code.attempt import Attempt
from gem_envs_code.languages import find_language
from gem_envs_code.tasks import Task, Test
from gem_sandbox import Result, Sandbox, Stop


class Failure(NamedTuple):
    """The first test that a program failed."""

    number: int
    """The number of the test, counted from 1."""
    kind: str
    """The kind of failure, in words that the program cannot choose: it could reveal its input with them."""
    test: Test
    said: str | None = None
    """The program's output, or the result of its function; of a long text the beginning."""
    result: Result | None = None
    """The end of the program, with 4 KiB of its outputs."""


class Judgement(NamedTuple):
    """The result of a program on the tests of a task."""

    passed: int
    total: int
    failure: Failure | None

    @property
    def right(self) -> bool:
        """True if the program passed every test."""
        return self.failure is None


def judge(program: str, task: Task, box: Sandbox, *, language: str = "python", stop: Stop = "failure") -> Judgement:
    """Run `program` on the tests of `task` in the sandbox `box`.

    A test is passed if the program ends with status 0 and the right output, or if its function returns the right
    result. Tests after the first may run in one process, where that is quicker and the program leaves nothing behind.
    The program answers each test once: none is run again after an answer.

    Args:
        stop: what ends the judging before the last test: the first failure, the first test that runs out of time (a
            program that hangs on one hangs on most), or nothing. Tests that were not run count as failed.

    Raises:
        ConfigError: there is no such language, or it cannot run such tests.
        Fault: a test cannot be carried out, whatever the program.
        SandboxUnavailable: no level as strong as that of `box` works here.
        SandboxLost: the sandbox failed, which says nothing about the program.
    """
    total = len(task.tests)
    attempt = Attempt(program, task, box, find_language(language))
    passed, failure = 0, None
    for number, (test, verdict) in enumerate(zip(task.tests, attempt.verdicts(), strict=False), start=1):
        if verdict.failed is None:
            passed += 1
            continue
        failure = failure or Failure(number, verdict.failed, test, verdict.said, verdict.result)
        if stop == "failure" or (stop == "timeout" and verdict.timed_out):
            break
    return Judgement(passed, total, failure)
