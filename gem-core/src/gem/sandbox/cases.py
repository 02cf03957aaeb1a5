"""One program against many cases, without paying for a process for each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gem.errors import ConfigError, SandboxLost
from gem.sandbox.results import result, shared_result
from gem.sandbox.slot import Outcome, SlotLost, encoded
from gem.sandbox.types import Level, Limits, Result, check_type

MOST_AT_ONCE = 30
"""Cases that share a process, at most: each needs two descriptors on both sides."""

Same = Callable[[str, str], bool]
"""Compares what a program wrote with what was expected."""

Stop = Literal["never", "failure", "timeout"]
"""What ends the test of a program before its last case."""

Play = Callable[[Sequence[bytes]], tuple[Level, Outcome]]
"""Runs the program in a new process, once for each input."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """What became of one case. Cases that shared a process have its `stderr` and equal shares of its times."""

    passed: bool
    result: Result


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a program.

    Attributes:
        cases: The cases that were tried, in order; fewer than `total` where a failure ended the test.
        total: The number of cases there were.
    """

    cases: tuple[CaseVerdict, ...]
    total: int

    @property
    def passed(self) -> bool:
        """Whether every case passed."""
        return self.count == self.total

    @property
    def count(self) -> int:
        """How many cases passed."""
        return sum(case.passed for case in self.cases)


def same_output(written: str, expected: str) -> bool:
    """Whether two outputs are the same but for blanks at the ends of lines and blank lines at the end."""
    return _lines(written) == _lines(expected)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def run_cases(
    play: Play,
    cases: Iterable[tuple[str, str]],
    limits: Limits,
    same: Same,
    stop: Stop = "never",
) -> Verdict:
    """Test a program on `cases`: pairs of an input and the expected output.

    The first case has a process to itself, and most programs that are wrong end there. Those after it share one, as
    many as its time is likely to do for. A case that passes there has passed; any other one is run again in a process
    to itself, and that decides. So a program may pass because of what it kept from an earlier case, and never fails
    because of it. Expected outputs stay in this process, where no program can read them.

    Args:
        stop: After what no further case is tried: `failure`, the first; `timeout`, the first case that ran out of time,
            since a program that hangs on one hangs on most; or `never`.

    Raises:
        SandboxLost: the sandbox failed; nothing is known about the program.
        ConfigError: there are no cases, they are no pairs of texts, or `stop` is none of the three.
    """
    check_type("cases", cases, Iterable)
    wanted = list(cases)
    if not wanted:
        raise ConfigError("a program is tested on at least one case")
    for number, case in enumerate(wanted):
        _check_case(f"cases[{number}]", case)
    if not callable(same):
        raise ConfigError(f"same is a function of two texts, not {same!r}")
    if stop not in get_args(Stop):
        raise ConfigError(f"stop={stop!r} is none of {', '.join(get_args(Stop))}")
    done = [_alone(play, wanted[0], limits, same)]

    def over() -> bool:
        last = done[-1]
        if stop == "timeout":
            return last.result.reason in ("cpu", "timeout")
        return stop == "failure" and not last.passed

    while len(done) < len(wanted) and not over():
        likely = int(limits.timeout / max(done[-1].result.cpu, 1e-3))
        batch = wanted[len(done) : len(done) + max(1, min(MOST_AT_ONCE, likely))]
        shared = _together(play, batch, limits, same) if len(batch) > 1 else []
        for case, verdict in zip(batch, [*shared, None], strict=False):
            done.append(verdict or _alone(play, case, limits, same))
            if over():
                break
    return Verdict(tuple(done), len(wanted))


def _check_case(name: str, case: Sequence[Any]) -> None:
    check_type(name, case, tuple, list)
    if len(case) != 2:
        raise ConfigError(f"{name} is a pair of an input and the expected output, not {len(case)} texts")
    for text in case:
        check_type(f"each half of {name}", text, str)


def _alone(play: Play, case: tuple[str, str], limits: Limits, same: Same) -> CaseVerdict:
    level, outcome = _retried(play, [encoded(case[0])])
    ended = result(outcome, limits, level)
    return CaseVerdict(ended.ok and same(ended.stdout, case[1]), ended)


def _together(play: Play, batch: Sequence[tuple[str, str]], limits: Limits, same: Same) -> list[CaseVerdict | None]:
    """Verdicts on the cases that passed in one process; None for the others that it came to."""
    level, outcome = _retried(play, [encoded(stdin) for stdin, _ in batch])
    verdicts: list[CaseVerdict | None] = []
    for which in range(len(outcome.log)):
        ended = shared_result(outcome, which, limits, level)
        verdicts.append(CaseVerdict(True, ended) if ended.ok and same(ended.stdout, batch[which][1]) else None)
    return verdicts


def _retried(play: Play, inputs: Sequence[bytes]) -> tuple[Level, Outcome]:
    try:
        return play(inputs)
    except SlotLost:
        pass
    try:
        return play(inputs)
    except SlotLost as error:
        raise SandboxLost(f"the sandbox failed twice under this program: {error}") from error
