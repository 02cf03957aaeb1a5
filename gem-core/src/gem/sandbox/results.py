"""From what the server saw of a process to the result of a program."""

import re
import signal

from gem.sandbox.slot import Outcome
from gem.sandbox.types import Level, Limits, Reason, Result

_MEMORY_ERROR = re.compile(r"(?:[\w.]*\.)?_?(?:Array)?MemoryError\b")


def result(outcome: Outcome, limits: Limits, level: Level) -> Result:
    """The result of a program that had a process to itself."""
    reason, note = _reason(outcome, limits)
    stdout = outcome.outputs[0]
    return Result(
        stdout=_text(stdout, limits),
        stderr=_text(outcome.stderr, limits),
        exit_code=outcome.status if outcome.status >= 0 else None,
        signal=-outcome.status if outcome.status < 0 else None,
        reason=reason,
        note=note,
        duration=outcome.duration,
        cpu=outcome.cpu,
        max_rss=outcome.max_rss,
        truncated=max(len(stdout), len(outcome.stderr)) > limits.output,
        level=level,
        isolated=level != "process",
    )


def shared_result(outcome: Outcome, which: int, limits: Limits, level: Level) -> Result:
    """The result for one of several inputs of a process, which was done with it: ok, error or output."""
    status, stdout, shares = outcome.log[which], outcome.outputs[which], len(outcome.log)
    truncated = max(len(stdout), len(outcome.stderr)) > limits.output
    return Result(
        stdout=_text(stdout, limits),
        stderr=_text(outcome.stderr, limits),
        exit_code=status,
        signal=None,
        reason="output" if truncated else "error" if status else "ok",
        duration=outcome.duration / shares,
        cpu=outcome.cpu / shares,
        max_rss=outcome.max_rss,
        truncated=truncated,
        level=level,
        isolated=level != "process",
    )


def lost(note: str, level: Level) -> Result:
    """The result of a program whose slot died."""
    return Result(
        stdout="",
        stderr="",
        exit_code=None,
        signal=None,
        reason="sandbox_error",
        note=note,
        duration=0.0,
        cpu=0.0,
        max_rss=0,
        truncated=False,
        level=level,
        isolated=level != "process",
    )


def _reason(outcome: Outcome, limits: Limits) -> tuple[Reason, str]:
    number = -outcome.status
    # The kernel sends SIGKILL to what has used up its time, should the server be late.
    late = number == signal.SIGKILL and outcome.cpu > limits.timeout
    if outcome.ended == "cpu" or number == signal.SIGXCPU or late:
        return "cpu", f"more than {limits.timeout:g} s of CPU time"
    if outcome.ended == "timeout":
        return "timeout", f"more than {limits.wall_seconds:g} s, most of them without computing"
    if max(len(outcome.outputs[0]), len(outcome.stderr)) > limits.output:
        return "output", f"more than {limits.output} bytes of output"
    if outcome.ended == "disk" or number == signal.SIGXFSZ:
        return "disk", _disk(limits)
    if number > 0:
        return "killed", f"ended by signal {number} ({_name(number)})"
    if outcome.status == 0:
        return "ok", ""
    if outcome.full:
        return "disk", _disk(limits)
    if _out_of_memory(outcome.stderr):
        return "memory", f"more than {limits.memory} bytes of memory"
    return "error", f"ended with status {outcome.status}"


def _disk(limits: Limits) -> str:
    return f"more than {limits.disk} bytes or {limits.inodes} files"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "real-time"


def _out_of_memory(stderr: bytes) -> bool:
    """Whether the program says that it ended for want of memory. It may say so at any time: it is about itself."""
    lines = stderr[-2000:].decode("utf-8", "replace").strip().splitlines()
    return bool(lines) and _MEMORY_ERROR.match(lines[-1]) is not None


def _text(output: bytes, limits: Limits) -> str:
    return output[: limits.output].decode("utf-8", "replace")
