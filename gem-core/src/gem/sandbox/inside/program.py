"""One program, in the child that was forked for it: confined first, then run as `__main__`."""

import atexit
import builtins
import gc
import itertools
import linecache
import os
import signal
import sys
import threading
import traceback
from _sitebuiltins import Quitter
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple, NoReturn, TextIO, cast

NAME = "main.py"
"""What tracebacks call the program."""

FAILED = 1
_MOST_DESCRIPTORS = 1 << 20
_FLUSH_FAILED = 120  # Python's own status where standard output could not be written


class Streams(NamedTuple):
    """Descriptors of one run of the program."""

    stdin: int
    stdout: int


def play(source: bytes, streams: list[Streams], stderr: int, log: int, confine: Callable[[], None]) -> NoReturn:
    """Run `source` once for each of `streams`, one after another, and end the process.

    A single run ends as Python would: its status is that of the process. After each of several a byte is written to
    `log`, its status, and the process ends with 0; a program that ends the process itself is missing from it.

    Args:
        confine: Called before the program gets a say.
    """
    status = FAILED
    try:
        os.dup2(stderr, 2)
        several = len(streams) > 1
        if not several:
            _attach(streams[0])
        _close_all_but([0, 1, 2, log, *(fd for one in streams for fd in one)] if several else [0, 1, 2])
        _dress()
        confine()
        if several:
            for one in streams:
                _attach(one)
                os.close(one.stdin)
                os.close(one.stdout)
                os.write(log, bytes([_once(source)]))
            status = 0
        else:
            status = _once(source)
    finally:
        os._exit(status)


def _close_all_but(kept: list[int]) -> None:
    ends = [*sorted(kept), _MOST_DESCRIPTORS]
    for below, above in itertools.pairwise(ends):
        os.closerange(below + 1, above)


def _attach(streams: Streams) -> None:
    os.dup2(streams.stdin, 0)
    os.dup2(streams.stdout, 1)


def _dress() -> None:
    """Make this process look like a Python that was started for the program."""
    sys.argv = [NAME]
    sys.path.insert(0, os.getcwd())
    builtins.exit, builtins.quit = Quitter("exit", "Ctrl-D"), Quitter("quit", "Ctrl-D")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    gc.enable()


def _once(source: bytes) -> int:
    sys.stdin = sys.__stdin__ = _stream(0, "r", "surrogateescape")
    sys.stdout = sys.__stdout__ = _stream(1, "w", "surrogateescape")
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace", buffering=1)
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, __file__=os.path.join(os.getcwd(), NAME))
    sys.modules["__main__"] = module
    status = _execute(source, module)
    try:
        threading._shutdown()  # pyright: ignore
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
        atexit._clear()  # pyright: ignore[reportPrivateUsage]
        if threading.active_count() == 1:
            # Files that the program left open are written when they are collected.
            module.__dict__.clear()
            gc.collect()
    except BaseException:
        traceback.print_exc()
    return _flush() or status


def _stream(fd: int, mode: str, errors: str, buffering: int = -1) -> TextIO:
    """A standard stream as the interpreter opens it in a UTF-8 locale."""
    stream = open(fd, mode, buffering, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    return cast("TextIO", stream)


def _execute(source: bytes, module: ModuleType) -> int:
    try:
        exec(compile(source, NAME, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as end:
        return _status(end)
    except BaseException as error:
        try:
            _report(source, error)
        except BaseException:
            os.write(2, f"{type(error).__name__}\n".encode())
        return FAILED
    return 0


def _status(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return FAILED


def _report(source: bytes, error: BaseException) -> None:
    text = source.decode("utf-8", "replace")
    linecache.cache[NAME] = (len(text), None, text.splitlines(keepends=True), NAME)
    trace = error.__traceback__.tb_next if error.__traceback__ else None  # without the frame of `_execute`
    error.__traceback__ = trace
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, trace)


def _flush() -> int:
    status = 0
    for stream in (sys.stdout, sys.stderr):
        try:
            if not stream.closed:
                stream.flush()
        except BaseException:
            status = _FLUSH_FAILED
    return status
