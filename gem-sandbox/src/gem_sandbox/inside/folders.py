"""Removing what a program has left behind, however deep and whatever its permissions, in bounded steps."""

import os
from collections.abc import Iterator
from contextlib import suppress

# Opens a folder to resolve paths from it, without the right to list it. Windows and macOS lack some of these.
_PLACE = sum(getattr(os, name, 0) for name in ("O_PATH", "O_DIRECTORY", "O_NOFOLLOW"))


def remove(folder: str) -> None:
    """Remove a folder and all it holds, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    for _ in removing(folder):
        pass


def removing(folder: str) -> Iterator[None]:
    """Remove a folder and all it holds, and pause at each thing. It takes time in proportion to what there is.

    No path is made on the way, which could be longer than a path can be: it goes down and up folder by folder. What is
    not there any more is not an error: another process may be removing the same.

    Raises:
        OSError: it cannot be removed.
    """
    above, name = os.path.split(folder)
    at = os.open(above or ".", getattr(os, "O_PATH", 0))
    waiting = [[name]]  # for the folder it is in, and those above, the folders in them that are still to be removed
    try:
        while True:
            if waiting[-1]:
                name = waiting[-1][-1]
                try:
                    os.chmod(name, 0o700, dir_fd=at)
                    at = _go(at, name)
                except FileNotFoundError:
                    if len(waiting) == 1:
                        break
                    waiting[-1].pop()
                    continue
                yield
                waiting.append([])
                with suppress(FileNotFoundError):  # the folder was removed meanwhile
                    for entry in _entries(at):
                        if entry.is_dir(follow_symlinks=False):
                            waiting[-1].append(entry.name)
                        else:
                            with suppress(FileNotFoundError):
                                os.unlink(entry.name, dir_fd=at)
                            yield
            elif len(waiting) > 1:
                waiting.pop()
                at = _go(at, "..")
                with suppress(FileNotFoundError):
                    os.rmdir(waiting[-1].pop(), dir_fd=at)
                yield
            else:
                break
    finally:
        os.close(at)


def things(folder: str) -> Iterator[os.stat_result]:
    """The files and folders in a folder, however deep.

    Raises:
        OSError: a folder cannot be listed.
    """
    at = os.open(folder, _PLACE)
    waiting: list[list[str]] = []
    try:
        while True:
            waiting.append([])
            for entry in _entries(at):
                yield entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting[-1].append(entry.name)
            while not waiting[-1]:
                waiting.pop()
                if not waiting:
                    return
                at = _go(at, "..")
            at = _go(at, waiting[-1].pop())
    finally:
        os.close(at)


def _go(at: int, name: str) -> int:
    """Open the folder `name` of the folder `at`, and close that."""
    there = os.open(name, _PLACE, dir_fd=at)
    os.close(at)
    return there


def _entries(at: int) -> Iterator[os.DirEntry[str]]:
    listed = os.open(".", os.O_RDONLY, dir_fd=at)
    try:
        with os.scandir(listed) as found:
            yield from found
    finally:
        os.close(listed)
