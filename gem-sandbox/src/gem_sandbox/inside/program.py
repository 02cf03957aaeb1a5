"""Runs one program in the child process that was forked for it: confined first, then run as `__main__`."""

import atexit
import builtins
import gc
import io
import linecache
import os
import signal
import sys
import threading
import traceback
from _sitebuiltins import Quitter
from collections.abc import Callable
from types import ModuleType
from typing import NoReturn, TextIO, cast

NAME = "main.py"
"""The program's name in tracebacks."""

FAILED = 1
_MOST_DESCRIPTORS = 1 << 20
_ENOUGH = 10  # times that code runs until the interpreter has adapted it (PEP 659)
_FLUSH_FAILED = 120  # Python's own status where standard output could not be written

_set_handler = signal._signal.signal  # pyright: ignore  # `signal.signal` writes to pages all over the interpreter


def prepare() -> None:
    """Make this process, the server, look like a Python that was started for a program, as far as it can.

    Every child inherits what is done here; done in each child, it would copy the pages that it writes to each time.
    """
    os.environ.pop("PWD", None)  # bubblewrap's
    sys.argv, sys.orig_argv = [NAME], [sys.executable, NAME]
    builtins.exit, builtins.quit = Quitter("exit", "Ctrl-D"), Quitter("quit", "Ctrl-D")
    sys.set_int_max_str_digits(0)  # the limit on CPU time protects from long integers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from programs of the same user
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    _open_streams()
    _practise()


def play(source: bytes, streams: tuple[int, int, int], confine: Callable[[], None]) -> NoReturn:
    """Run `source` and end the process as Python would, with the status of the program.

    Args:
        streams: Descriptors of its standard input, output and error.
        confine: Called before the program gets a say.
    """
    for own, stream in enumerate(streams):
        os.dup2(stream, own)
    linecache.cache[NAME] = (lambda: source.decode("utf-8", "replace"),)  # for tracebacks: the file does not exist
    sys.path.insert(0, os.getcwd())
    _set_handler(signal.SIGINT, signal.default_int_handler)
    gc.enable()
    confine()
    status = FAILED
    try:
        os.closerange(3, _MOST_DESCRIPTORS)
        module = ModuleType("__main__")
        status = _execute(source, module)
        # Threads that may still run, which Python 3.13 does not show.
        if getattr(threading, "_shutdown_locks", True) or threading._threading_atexits:  # pyright: ignore
            threading._shutdown()  # pyright: ignore
        status = _finish(module) or status
    finally:
        os._exit(status)


def _practise() -> None:
    """Report exceptions as those of programs are: imports what that needs, and has the interpreter adapt the code."""
    source = "def f(n):\n    return f(n - 1) if n else 1 / 0\nf(2)\n"
    stderr, sys.stderr = sys.stderr, io.StringIO()
    linecache.cache[NAME] = (lambda: source,)
    for _ in range(_ENOUGH):
        try:
            exec(compile(source, NAME, "exec", dont_inherit=True), {})
        except ZeroDivisionError as error:
            _report(error)
    linecache.cache.clear()
    sys.stderr = stderr


def _open_streams() -> None:
    """The standard streams as the interpreter opens them in a UTF-8 locale, at the start of their descriptors."""
    sys.stdin = sys.__stdin__ = _stream(0, "r", "surrogateescape")
    sys.stdout = sys.__stdout__ = _stream(1, "w", "surrogateescape")
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace", buffering=1)


def _execute(source: bytes, module: ModuleType) -> int:
    """Run `source` as `module`; returns its status."""
    sys.modules["__main__"] = module
    module.__dict__.update(__builtins__=builtins, __file__=os.path.join(os.getcwd(), NAME))
    try:
        exec(compile(source, NAME, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as end:
        return _status(end)
    except BaseException as error:
        try:
            _report(error)
        except BaseException:
            os.write(2, f"{type(error).__name__}\n".encode())
        return FAILED
    return 0


def _finish(module: ModuleType) -> int:
    """Do what Python does at the end of a program; returns its status if that fails, and 0 otherwise."""
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    atexit._clear()  # pyright: ignore[reportPrivateUsage]
    if threading.active_count() == 1:
        # Files that the program left open are written when they are collected.
        module.__dict__.clear()
        gc.collect()
    status = 0 if _flush(sys.stdout, sys.stderr) else _FLUSH_FAILED
    _flush(sys.__stdout__, sys.__stderr__)  # should the program have put others in their place
    return status


def _flush(*streams: TextIO | None) -> bool:
    """Write what `streams` hold back. Returns whether they could be written."""
    done = True
    for stream in streams:
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except Exception:
            done = False
    return done


def _stream(fd: int, mode: str, errors: str, buffering: int = -1) -> TextIO:
    stream = open(fd, mode, buffering, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    return cast("TextIO", stream)


def _status(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return FAILED


def _report(error: BaseException) -> None:
    trace = error.__traceback__.tb_next if error.__traceback__ else None  # without the frame of `_execute`
    error.__traceback__ = trace
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, trace)
