"""One program against many cases, each in a process of its own."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import zip_longest
from typing import Literal, get_args

from gem_sandbox.errors import ConfigError, SandboxLost
from gem_sandbox.levels import Level
from gem_sandbox.limits import Limits
from gem_sandbox.results import Result, result
from gem_sandbox.slot import Outcome, SlotLost, encoded

KEPT = 4096
"""Bytes of each output of a case that its verdict keeps."""

Case = tuple[str | bytes, str | bytes]
"""An input and the expected output."""

Same = Callable[[bytes, bytes], bool]
"""Compares what a program wrote with what was expected."""

Stop = Literal["never", "failure", "timeout"]
"""The event that ends the test of a program before its last case."""

Play = Callable[[bytes], tuple[Level, Outcome]]
"""Runs the program in a new process, on an input."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """The outcome of one case, and whether it `passed`.

    Of what the program wrote, `result` has the first 4 KiB of standard output, and the last 4 KiB of standard error.
    """

    passed: bool
    result: Result


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a program on its cases.

    Attributes:
        cases: The cases that were tried, in order; fewer than `total` where a failure ended the test.
        total: The number of cases there were.
    """

    cases: tuple[CaseVerdict, ...]
    total: int

    @property
    def passed(self) -> bool:
        """True if every case passed."""
        return self.count == self.total

    @property
    def count(self) -> int:
        """The number of the cases tried that passed."""
        return sum(case.passed for case in self.cases)


def same_output(written: bytes, expected: bytes) -> bool:
    """Compare two outputs byte for byte, but for blanks at the ends of lines and blank lines at the end.

    Lines end with a line feed; blanks are those of ASCII.
    """
    return all(ours == theirs for ours, theirs in zip_longest(_lines(written), _lines(expected)))


def _lines(text: bytes) -> Iterator[bytes]:
    return (line.rstrip() for line in BytesIO(text.rstrip()))


def run_cases(play: Play, cases: Iterable[Case], limits: Limits, same: Same, stop: Stop = "failure") -> Verdict:
    """Test a program on `cases`: pairs of an input and the expected output.

    Each case is run once, in a process of its own, as `Sandbox.run` would run it, and no case is run again. So nothing
    tells a program that it is tested, an earlier case leaves nothing to a later one, and of the inputs it can read the
    one it was given. A case passes where the process ended by itself, with status 0, and wrote what was expected.
    Expected outputs stay in this process, where no program can read them.

    Args:
        same: Compares the bytes that the program wrote with those expected, which are UTF-8 where the case has text.
        stop: After what no further case is tried: `failure`, the first of any kind, which is enough to know whether
            the program passes; `timeout`, the first case that ran out of time, since a program that hangs on one hangs
            on most; or `never`. The share of cases passed needs one of the latter two.

    Raises:
        SandboxLost: the sandbox failed; nothing is known about the program.
        ConfigError: `cases` is empty, or `stop` is not one of the three.
    """
    wanted = list(cases)
    if not wanted:
        raise ConfigError("a program is tested on at least one case")
    if stop not in get_args(Stop):
        raise ConfigError(f"stop={stop!r} is not one of {', '.join(get_args(Stop))}")
    done: list[CaseVerdict] = []
    for stdin, expected in wanted:
        level, outcome = retried(play, encoded(stdin))
        ended = result(outcome, limits, level, KEPT)
        last = CaseVerdict(ended.ok and same(outcome.stdout, encoded(expected)), ended)
        done.append(last)
        if (stop == "failure" and not last.passed) or (stop == "timeout" and ended.reason in ("cpu", "timeout")):
            break
    return Verdict(tuple(done), len(wanted))


def retried(play: Play, stdin: bytes) -> tuple[Level, Outcome]:
    """The result of `play`. A program whose slot died under it is run once more.

    Raises:
        SandboxLost: the sandbox failed again; nothing is known about the program.
    """
    try:
        return play(stdin)
    except SlotLost:
        pass
    try:
        return play(stdin)
    except SlotLost as error:
        raise SandboxLost(f"the sandbox failed twice under this program: {error}") from error
