"""Checkers: comparing the output of a program with the one expected."""

import math
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import zip_longest

from gem.errors import ConfigError, Fault, did_you_mean
from gem_envs_code import livecodebench
from gem_envs_code.tasks import Checker, StdinTest, Task
from gem_sandbox import Limits, Sandbox, SandboxLost

CHECKER_LIMITS = Limits(timeout=10.0, disk=64 * 2**20)
"""Limits of a checker that is a program."""

Compare = Callable[[bytes, bytes, float], bool]
"""Comparison of what was printed and what was expected, with a tolerance for numbers."""


def same_output(printed: bytes, right: bytes, tolerance: float = 0.0) -> bool:
    """Compare two outputs line by line.

    As in programming contests, spaces at the ends of a line, the number of spaces between words, and empty lines at the
    end are ignored; everything else must be equal byte for byte, or be numbers within the tolerance.
    """
    return all(_same_words(ours, theirs, tolerance) for ours, theirs in zip_longest(_lines(printed), _lines(right)))


def same_tokens(printed: bytes, right: bytes, tolerance: float = 0.0) -> bool:
    """Compare the words of two outputs, wherever their lines end."""
    return _same_words(printed.split(), right.split(), tolerance)


def same_bytes(printed: bytes, right: bytes, tolerance: float = 0.0) -> bool:
    """Compare two outputs byte for byte, but for line breaks at the end."""
    return printed.rstrip(b"\r\n") == right.rstrip(b"\r\n")


def same_lines_in_any_order(printed: bytes, right: bytes, tolerance: float = 0.0) -> bool:
    """Compare the lines of two outputs, as words, in any order."""
    return sorted(_lines(printed)) == sorted(_lines(right))


COMPARISONS: dict[str, Compare] = {
    "words": same_output,
    "tokens": same_tokens,
    "exact": same_bytes,
    "any order": same_lines_in_any_order,
    "livecodebench": livecodebench.same_lines,
}
"""The checkers that have a name."""


def _lines(text: bytes) -> Iterator[list[bytes]]:
    return (line.split() for line in BytesIO(text.rstrip()))


def _same_words(ours: list[bytes] | None, theirs: list[bytes] | None, tolerance: float) -> bool:
    if ours == theirs:
        return True
    if not tolerance or ours is None or theirs is None or len(ours) != len(theirs):
        return False
    return all(our == their or _near(our, their, tolerance) for our, their in zip(ours, theirs, strict=True))


def _near(ours: bytes, theirs: bytes, tolerance: float) -> bool:
    """Tell whether two words are numbers and near each other. Python reads `1_0` as a number, contests do not."""
    if b"_" in ours or len(ours) > 400:
        return False
    try:
        return close(float(ours), float(theirs), tolerance)
    except ValueError:
        return False


def close(ours: float, theirs: float, tolerance: float) -> bool:
    """Tell whether two numbers differ by at most `tolerance`, absolutely or relatively."""
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return ours == theirs or math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)


def right_output(printed: bytes, test: StdinTest, task: Task, box: Sandbox) -> bool:
    """Ask the checker of `task` about what a program printed on `test`.

    An output that the checker cannot read, or that takes it too long, is not right, if it gets over the expected one.

    Raises:
        Fault: the checker fails on the expected output, too.
        ConfigError: there is no checker of this name.
    """
    checker, right = task.checker, test.output.encode("utf-8", "replace")
    if isinstance(checker, str) and checker in COMPARISONS:
        return COMPARISONS[checker](printed, right, task.tolerance)
    if isinstance(checker, str) and "\n" not in checker:
        near = did_you_mean(checker, list(COMPARISONS))
        raise ConfigError(f"there is no checker {checker!r}.{near} There are: {', '.join(COMPARISONS)}; or a program")
    said = printed.decode("utf-8", "replace")
    verdict, failure = _checked(checker, said, test, box)
    if failure is not None and _checked(checker, test.output, test, box)[1] is not None:
        raise Fault(f"the checker of the task {task.name!r} failed: {failure}")
    return verdict


def _checked(checker: str | Checker, printed: str, test: StdinTest, box: Sandbox) -> tuple[bool, str | None]:
    """The verdict of a checker; and how it failed, or None."""
    if callable(checker):
        try:
            return bool(checker(test.input, printed, test.output)), None
        except Exception as error:
            return False, f"{type(error).__name__}: {error}"
    files: dict[str, str | bytes] = {"input.txt": test.input, "printed.txt": printed, "expected.txt": test.output}
    ended = box.run(checker, files=files, limits=CHECKER_LIMITS)
    if ended.reason == "sandbox_error":
        raise SandboxLost(f"the sandbox failed under a checker: {ended.note}")
    if ended.reason not in ("ok", "error") or "Traceback" in ended.stderr:
        return False, f"{ended.note} {ended.stderr[-200:]}".rstrip()
    return ended.ok, None
