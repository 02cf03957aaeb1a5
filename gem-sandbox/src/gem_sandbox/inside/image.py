"""Becomes a program that is not Python: the child that was forked for it, confined first, executes it."""

import errno
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

_MOST_DESCRIPTORS = 1 << 20
_TOO_LARGE = (errno.ENOMEM, errno.E2BIG)  # the program asks for more than it may have before it begins


class NotExecuted(Exception):
    """The kernel did not execute the program, which says nothing about the program."""


def become(
    image: Mapping[str, Any],
    streams: tuple[int, int, int],
    confine: Callable[[], None],
    *,
    executable: int | None,
    kept: int,
) -> None:
    """Execute `image`. Returns only where it takes more memory than it may have.

    Args:
        streams: Descriptors of its standard input, output and error.
        confine: Called before the program gets a say.
        executable: A descriptor of it, or None where it has a path.
        kept: A descriptor that stays open until then.

    Raises:
        NotExecuted: it is not there, or may not be executed.
    """
    for own, stream in enumerate(streams):
        os.dup2(stream, own)
    # What is ignored stays ignored in what is executed, and Python ignores the first.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    confine()
    first = 3
    for fd in sorted({kept} if executable is None else {kept, executable}):
        os.closerange(first, fd)
        os.set_inheritable(fd, False)
        first = fd + 1
    os.closerange(first, _MOST_DESCRIPTORS)
    try:
        os.execve(image["path"] if executable is None else executable, image["arguments"], os.environ)
    except MemoryError:
        pass
    except OSError as error:
        if error.errno not in _TOO_LARGE:
            raise NotExecuted(f"{image['arguments'][0]}: {error.strerror}") from error
    os.write(2, b"MemoryError\n")
