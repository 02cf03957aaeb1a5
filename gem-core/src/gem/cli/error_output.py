"""Printing the error that ended a command: on one line, and with `--json` as an object too."""

import contextlib
import errno
import os
import sys
import sysconfig
import traceback
from collections.abc import Generator, Sequence
from pathlib import Path

import click

import gem
from gem.cli.output import JsonOutput, echo
from gem.errors import Fault, GemError

FAILED = 1
_LONGEST = 4000
"""Most characters of a message."""
_LIBRARIES = (
    *(sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(gem.__file__).parent) + os.sep,
)
INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended: 128 + SIGINT."""


@contextlib.contextmanager
def report_errors(context: click.Context) -> Generator[None]:
    """Print any exception but those of click, and exit with its status."""
    output: JsonOutput = context.obj
    try:
        yield
    except (click.exceptions.Exit, click.ClickException):
        raise
    except (KeyboardInterrupt, click.Abort):
        output.print_error("interrupted")
        context.exit(INTERRUPTED)
    except BaseException as error:  # even sys.exit() of an env
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise  # the reader has closed the pipe; click exits silently
        message = error_line(error)
        output.print_error(message)
        if context.params["debug"]:
            echo("".join(traceback.format_exception(error)), err=True, nl=False)
        else:
            echo("gemx:", err=True, nl=False, fg="red")
            echo(f" {message}", err=True)
        context.exit(FAILED)


def error_line(error: BaseException) -> str:
    """An error on one line: the text of ours, file and reason of an OSError, type and place of any other."""
    text = " ".join(str(error).split())
    if len(text) > _LONGEST:  # a value of a file, perhaps
        text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
    if isinstance(error, GemError | Fault):
        return text
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{line}{_place(error)} (`gemx --debug …` shows the traceback)"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    index = frame_to_show([frame.filename for frame in frames])
    if index is None:
        return ""
    return f", in {frames[index].name} at {Path(frames[index].filename).name}:{frames[index].lineno}"


def frame_to_show(files: Sequence[str]) -> int | None:
    """The index of the traceback frame to show, given the files of the frames, outermost first.

    It is the innermost one that is neither in GEM nor in a library, or else the innermost one that has a file.
    """
    seen = [index for index, file in enumerate(files) if not file.startswith("<")]
    own = [index for index in seen if not files[index].startswith(_LIBRARIES)]
    return max(own or seen, default=None)


def flush_stdout() -> bool:
    """Flush standard output; returns whether that succeeded. On failure, keep Python from trying again at exit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.EPIPE:
            echo(f"gemx: standard output: {error.strerror}", err=True)
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
