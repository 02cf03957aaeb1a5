"""A program on the tests of a task: each in a process of its own or, where that is quicker, several in one."""

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gem.errors import ConfigError
from gem_envs_code.assertions import as_call, assertions_hold
from gem_envs_code.checkers import right_output
from gem_envs_code.inside.wire import decode, encode, is_shallow
from gem_envs_code.languages import Language
from gem_envs_code.results import same_result
from gem_envs_code.tasks import AssertTest, CallTest, StdinTest, Task, Test
from gem_sandbox import Job, Limits, Result, Sandbox
from gem_sandbox.cases import KEPT, Play, retried
from gem_sandbox.results import result

TOGETHER_SECONDS = 0.1
"""CPU seconds for several tests in one process. A program that needs more runs alone on each test: there the start of a
process counts for little, and an infinite loop must be seen within its own limit."""


class Verdict(NamedTuple):
    """The result of a program on one test."""

    failed: str | None = None
    """The kind of failure, or None."""
    said: str | None = None
    """The program's output, or the result of its function."""
    result: Result | None = None

    @property
    def timed_out(self) -> bool:
        """True if the program ran out of time."""
        return self.result is not None and self.result.reason in ("cpu", "timeout")


class Ended(NamedTuple):
    """A process that has ended: its result, all that it printed, and its answers if it was asked for some."""

    result: Result
    printed: bytes
    answers: Sequence[Any] = ()


class Attempt:
    """A program and the tests of a task.

    Raises:
        ConfigError: the language cannot run such tests.
    """

    def __init__(self, program: str, task: Task, box: Sandbox, language: Language) -> None:
        self._source = language.complete(program.encode("utf-8", "replace").decode())
        self._task = task
        self._box = box
        self._language = language
        plain = Job(code=self._source, language=language.name)
        self._run = box.player(plain, task.limits)
        if language.caller is None and not all(isinstance(test, StdinTest) for test in task.tests):
            raise ConfigError(f"the task {task.name!r} tests functions, which it cannot do in {language.title}")

    def verdicts(self) -> Iterator[Verdict]:
        """The verdict on each test, in order, each when it is asked for.

        A program is asked once about each test: what it answers in one process with others counts, right or wrong, and
        only a test to which it gave no answer there is run alone. So it gains nothing by telling the two apart.
        """
        first, *rest = map(_simplest, self._task.tests)
        verdict = self._alone(first)
        yield verdict
        answered: list[Verdict] = []
        if verdict.failed is None and len(rest) > 1 and self._language.together(self._source):
            answered = self._together(list(_until_assertions(rest)))
        yield from answered
        for test in rest[len(answered) :]:
            yield self._alone(test)

    def _alone(self, test: Test) -> Verdict:
        """Run one test in a process of its own. What is right counts only if that ends by itself, with status 0."""
        if isinstance(test, AssertTest):
            return self._asserted(test)
        if isinstance(test, StdinTest):
            ended = _play(self._run, test.input.encode("utf-8", "replace"), self._task.limits)
            said, wrong = ended.result.stdout, "wrong output"
            right = ended.result.ok and self._prints(ended.printed, test)
        else:
            ended = self._ask([_order(test)], self._task.limits)
            said, wrong = _shown(ended.answers), "a wrong result"
            right = ended.result.ok and bool(ended.answers) and self._returns(ended.answers[0], test)
        return Verdict(None if right else _kind(ended.result) or wrong, said, ended.result)

    def _asserted(self, test: AssertTest) -> Verdict:
        """Run the assertions of a test in one process, and the program in others."""
        last: Result | None = None
        seed = secrets.randbits(32)

        def carry(steps: Sequence[Any]) -> Sequence[Any]:
            nonlocal last
            ended = self._ask([{"steps": steps, "seed": seed}], self._task.limits)
            last = ended.result
            return ended.answers

        held = assertions_hold(test, self._box, carry)
        kind = last and _kind(last)
        return Verdict(None if held else kind or "a failed assertion", None, last)

    def _together(self, tests: Sequence[StdinTest | CallTest]) -> list[Verdict]:
        """Run tests in one process. Returns the verdicts on those that the program answered: the first ones."""
        if not tests:
            return []
        seconds = min(self._task.limits.timeout, TOGETHER_SECONDS)
        ended = self._ask([_order(test) for test in tests], replace(self._task.limits, timeout=seconds, wall=None))
        verdicts: list[Verdict] = []
        for answer, test in zip(ended.answers, tests, strict=False):
            if isinstance(test, StdinTest):
                said = answer if isinstance(answer, str) else ""
                right, wrong = self._prints(_printed(said), test), "wrong output"
            else:
                said = _shown([answer])
                right, wrong = self._returns(answer, test), "a wrong result"
            verdicts.append(Verdict(None if right else wrong, said))
        return verdicts

    def _prints(self, printed: bytes, test: StdinTest) -> bool:
        return right_output(printed, test, self._task, self._box)

    def _returns(self, answer: Any, test: CallTest) -> bool:
        accepted = [test.result]
        if test.or_first:
            accepted.append(test.result[0])
        return any(same_result(answer, right, test.same, self._task.tolerance) for right in accepted)

    def _ask(self, orders: Sequence[Any], limits: Limits) -> Ended:
        """Run the program on several orders in one process: see `gem_envs_code.inside.caller`."""
        assert self._language.caller is not None
        mark = secrets.token_hex(8)
        order = json.dumps({"program": self._source, "mark": mark, "tests": orders})
        ended = _play(self._box.player(self._language.caller(self._source), limits), order.encode(), limits)
        answers: list[Any] = []
        for part in ended.printed.split(b"\n" + mark.encode())[1:]:
            try:
                answer = json.loads(part.partition(b"\n")[0])
            except (ValueError, RecursionError):  # the program may have written it
                break
            if not is_shallow(answer):
                break
            answers.append(answer)
        return ended._replace(answers=answers)


def _play(play: Play, stdin: bytes, limits: Limits) -> Ended:
    level, outcome = retried(play, stdin)
    return Ended(result(outcome, limits, level, KEPT), outcome.stdout)


def _simplest(test: Test) -> Test:
    """A test, as a call if it is nothing else."""
    return (isinstance(test, AssertTest) and as_call(test)) or test


def _until_assertions(tests: Sequence[Test]) -> Iterator[StdinTest | CallTest]:
    for test in tests:
        if isinstance(test, AssertTest):
            break
        yield test


def _order(test: StdinTest | CallTest) -> dict[str, Any]:
    if isinstance(test, StdinTest):
        return {"stdin": test.input}
    keywords = encode(dict(test.keywords))
    return {"function": test.function, "arguments": encode(list(test.arguments)), "keywords": keywords}


def _printed(answer: str) -> bytes:
    """What a program printed, from the answer of `gem_envs_code.inside.caller`."""
    try:
        return answer.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # the program has written the answer itself
        return b""


def _kind(result: Result) -> str | None:
    """The kind of failure of a process, or None.

    Nothing more may be said of some failures: the program chooses its exit status, and the signal that ends it.
    """
    return {"ok": None, "error": "an error", "killed": "a crash"}.get(result.reason, result.note)


def _shown(answers: Sequence[Any]) -> str | None:
    """A result for people. One that is long, or that `encode` has not made, is shown as it came."""
    if not answers:
        return None
    text = json.dumps(answers[0])
    try:
        return repr(decode(answers[0])) if len(text) <= KEPT else text[:KEPT]
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError):
        return text
