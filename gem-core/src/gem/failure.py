"""What is known about an exception of an environment, a tool, a grader or a policy."""

import traceback
from dataclasses import dataclass

from gem.errors import Unreachable


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception of an env, a tool, a grader or a policy. Its episode is reported, and left out of every result."""

    error: str
    """`Type: message`, on one line."""
    traceback: str
    """The whole traceback, as Python prints it."""
    unreachable: bool = False
    """Whether it was a `gem.errors.Unreachable`: what the episode depends on cannot be reached."""


def failure_of(error: BaseException) -> Failure:
    """The `Failure` of an exception."""
    return Failure(
        one_line(error), "".join(traceback.format_exception(error)), unreachable=isinstance(error, Unreachable)
    )


def one_line(error: BaseException) -> str:
    """`Type: message` of an exception, on one line."""
    try:
        text = str(error)
    except Exception as second:
        text = f"(its text cannot be read: {type(second).__name__})"
    return " ".join(f"{type(error).__name__}: {text}".split())
