"""What ended a command, said in one line; with `--json` as one object, too."""

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
_LIBRARIES = (
    *(sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(gem.__file__).parent) + os.sep,
)
INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended: 128 + SIGINT."""


@contextlib.contextmanager
def report_errors(context: click.Context) -> Generator[None]:
    """Whatever is raised within ends the program, with its status and words about it; what is click's passes."""
    output: JsonOutput = context.obj
    try:
        yield
    except (click.exceptions.Exit, click.ClickException):
        raise
    except (KeyboardInterrupt, click.Abort):
        output.print_error("interrupted")
        context.exit(INTERRUPTED)
    except BaseException as error:  # an env may even call sys.exit()
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            raise  # whoever reads has had enough; click ends quietly
        message = error_line(error)
        output.print_error(message)
        if context.params["debug"]:
            echo("".join(traceback.format_exception(error)), err=True, nl=False)
        else:
            echo("gemx:", err=True, nl=False, fg="red")
            echo(f" {message}", err=True)
        context.exit(FAILED)


def error_line(error: BaseException) -> str:
    """What an error says: of GEM's own its text, of an OSError the file and why, of others where they were raised."""
    if isinstance(error, GemError | Fault):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    text = " ".join(str(error).split())
    line = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{line}{_place(error)} (`gemx --debug …` shows the traceback)"


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    index = frame_to_show([frame.filename for frame in frames])
    if index is None:
        return ""
    return f", in {frames[index].name} at {Path(frames[index].filename).name}:{frames[index].lineno}"


def frame_to_show(files: Sequence[str]) -> int | None:
    """Which of the frames of a traceback to show, from the files they stand in, the outermost first.

    The innermost that is neither GEM's nor an installed library's: a line that whoever looks at it wrote. Without one,
    the innermost. Python's own frozen modules are none that anybody can look at.
    """
    seen = [index for index, file in enumerate(files) if not file.startswith("<")]
    own = [index for index in seen if not files[index].startswith(_LIBRARIES)]
    return max(own or seen, default=None)


def flush_stdout() -> bool:
    """Write out what is left; whether it could be. Otherwise Python would try again at its end, with a traceback."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.EPIPE:
            echo(f"gemx: standard output: {error.strerror}", err=True)
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
