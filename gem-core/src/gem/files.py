"""Files that may come from somebody else, files that are replaced at once, and folders without links out of them."""

import errno
import os
import re
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from gzip import GzipFile
from pathlib import Path
from typing import BinaryIO

from gem.errors import ConfigError

MOST_BYTES = 32 * 2**20
"""Most bytes of a line, and of a file that is read whole: a file of a few blocks may claim any size."""
MOST_PARTS = 250_000
"""Most lists and objects in a line of a recording: an empty one has two characters and takes 60 bytes or more."""

_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading, but no device or pipe, which may have no end or never begin.

    Raises:
        OSError: it is one, or it cannot be read.
    """
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a folder says what is wrong
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file", os.fspath(path))
    return open(path, "rb")


def lines_of(file: BinaryIO | GzipFile) -> Iterator[bytes]:
    """The lines of an open file, with their ends.

    Raises:
        OSError: one is longer than `MOST_BYTES`.
    """
    for number, line in enumerate(iter(partial(file.readline, MOST_BYTES + 1), b""), start=1):
        if len(line) > MOST_BYTES:
            raise OSError(errno.EFBIG, f"line {number} has more than {MOST_BYTES:,} bytes", file.name)
        yield line


def read_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The lines of a file, each of them JSON, with their ends.

    Raises:
        OSError: one has more than `MOST_PARTS`, or see `open_file` and `lines_of`.
    """
    with open_file(path) as file:
        for number, line in enumerate(lines_of(file), start=1):
            if len(line) > MOST_PARTS and _parts(line) > MOST_PARTS:
                raise OSError(errno.EFBIG, f"line {number} has more than {MOST_PARTS:,} lists and objects", path)
            yield line


def _parts(line: bytes) -> int:
    """Lists and objects of a line of JSON, at most. Texts are only left out where they could make the difference."""
    many = line.count(b"[") + line.count(b"{")
    if many > MOST_PARTS:
        rest = _TEXT.sub(b"", line)
        many = rest.count(b"[") + rest.count(b"{")
    return many


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """A file that is read whole.

    Raises:
        OSError: it has more than `most` bytes, or see `open_file`.
    """
    with open_file(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", os.fspath(path))
    return content


@contextmanager
def replacing(path: Path) -> Generator[BinaryIO]:
    """Write a new file that takes the place of `path` in the end; after an exception, `path` is as it was.

    A program that is killed leaves the old file or the new one, and perhaps a part beside it, `.NAME.PID.part`.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        with part.open("xb") as file:  # a link that somebody puts there is not followed
            yield file
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = error.filename or str(path)  # a full disk does not say where
        raise


def check_no_links(folder: Path, never_written: str = "") -> None:
    """Check that no link leads out of a folder that is written into; it may come from somebody else.

    Args:
        never_written: files in it that may be links, because they are only written when they are made; a pattern, as of
            `Path.match`.

    Raises:
        ConfigError: one does, in it or in a folder in it, or there is a pipe, at which writing would wait.
        OSError: a folder cannot be read.
    """
    root = os.path.realpath(folder)
    waiting = [root] if os.path.isdir(root) else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                shown = folder / os.path.relpath(entry.path, root)
                if never_written and shown.match(never_written):
                    continue
                if entry.is_symlink():
                    if not Path(os.path.realpath(entry.path)).is_relative_to(root):
                        raise ConfigError(
                            f"{shown} is a link to {os.readlink(entry.path)}, and writing there would leave the "
                            "folder: put the file itself there, or remove the link"
                        )
                elif entry.is_dir():
                    waiting.append(entry.path)
                elif not entry.is_file():
                    raise ConfigError(f"{shown} is a device or a pipe, not a file: remove it")
