"""Files that are replaced at once, and folders of results, in which nothing is written through a link."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gem.errors import ConfigError


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


def check_no_links(folder: Path) -> None:
    """Check that no link leads out of a folder that is written into; it may come from somebody else.

    Raises:
        ConfigError: one is, or the folder cannot be read.
    """
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.is_symlink() and (len(entry.readlink().parts) > 1 or entry.readlink().name in ("", "..")):
            raise ConfigError(
                f"{entry} is a link to {entry.readlink()}, and writing there would leave the folder: "
                "put the file itself there, or remove the link"
            )
