"""What is known about a fault of an environment, a tool, a grader or a policy."""

import traceback
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """A fault of an env, a tool, a grader or a policy: its episode counts for nothing but is reported."""

    error: str
    """`Type: message`, in one line."""
    traceback: str
    """The whole of it, as Python prints it."""


def failure_of(error: BaseException) -> Failure:
    """The failure that `error` is, to report: its text in one line, and its traceback."""
    try:
        text = str(error)
    except Exception as unspeakable:
        text = f"(its text cannot be read: {type(unspeakable).__name__})"
    return Failure(" ".join(f"{type(error).__name__}: {text}".split()), "".join(traceback.format_exception(error)))
