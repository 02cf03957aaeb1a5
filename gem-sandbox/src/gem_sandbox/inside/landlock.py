"""Landlock: rules that a process sets for itself about which files it may open. It needs no privileges.

Linux `Documentation/userspace-api/landlock.rst`.
"""

import os
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from . import calls

OLDEST = 3
"""The first version that keeps a file from being truncated: Linux 6.2."""

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_BENEATH = 1
_EXECUTE = 1 << 0
_LIST = 1 << 3
_READ = 1 << 2 | _LIST
_DEVICE = 1 << 1 | 1 << 2  # write and read
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2  # what a rule for a file can allow: execute, write, read
_EVERYTHING = (1 << 15) - 1  # as of version 3, that one included
_WRITE = _EVERYTHING & ~_READ & ~1  # and create, remove and move
_PUT_FOLDER = 1 << 7 | 1 << 13  # make one, and move it here
_IOCTL = 1 << 15
_NETWORK = 1 << 0 | 1 << 1  # bind and connect
_SCOPES = 1 << 0 | 1 << 1  # abstract sockets and signals


def version() -> int:
    """The version of Landlock that this kernel offers; raises `OSError` where it offers none."""
    return calls.syscall(_CREATE, None, 0, 1)


def enter(view: Mapping[str, Any], folder: str, left: str) -> None:
    """Restrict this process to `view` and the folder `folder`, for good.

    It may put folders into the folder `left`, and can read nothing there. Programs may not even do that: see `writing`.
    """
    found = version()
    if found < OLDEST:
        raise OSError(f"Landlock is of version {found} here, and of {OLDEST} from Linux 6.2 on")
    files = _EVERYTHING | (_IOCTL if found >= 5 else 0)
    attributes = struct.pack("=QQQ", files, _NETWORK if found >= 4 else 0, _SCOPES if found >= 6 else 0)
    ruleset = calls.syscall(_CREATE, attributes, {3: 8, 4: 16, 5: 16}.get(found, 24), 0)
    for path, access in _readable(view["paths"], view["hidden"]):
        _allow(ruleset, path, access)
    for path in view["shown"]:
        _allow(ruleset, path, _READ)
    for path in view["executables"]:
        _allow(ruleset, path, _READ | _EXECUTE)
    for path in view["devices"]:
        _allow(ruleset, path, _DEVICE)
    _allow(ruleset, folder, files)
    _allow(ruleset, left, _PUT_FOLDER)
    restrict(ruleset)
    os.close(ruleset)


def writing(folder: str, devices: Sequence[str]) -> int:
    """A descriptor of rules to write in `folder` and to `devices`, and nowhere else."""
    ruleset = calls.syscall(_CREATE, struct.pack("=Q", _WRITE), 8, 0)
    for path in (folder, *devices):
        _allow(ruleset, path, _WRITE)
    return ruleset


def restrict(ruleset: int) -> None:
    """Apply rules to this process for the rest of its life, in addition to earlier ones."""
    calls.syscall(_RESTRICT, ruleset, 0)


def _readable(paths: list[str], hidden: list[str]) -> list[tuple[str, int]]:
    """Rules for `paths`, but not for the content of what is `hidden` below them.

    A rule for a folder applies to everything below it, and no other rule can take that back. So a folder that holds
    something hidden can be listed, and each of the other things in it has a rule of its own.
    """
    rules: list[tuple[str, int]] = []
    for path in paths:
        real = os.path.realpath(path)
        inner = [one for one in hidden if os.path.realpath(one).startswith(f"{real}/")]
        if inner:
            rules.append((path, _LIST))
            children = [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
            rules += _readable([child for child in children if child not in hidden], inner)
        else:
            rules.append((path, _READ))
    return rules


def _allow(ruleset: int, path: str, access: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        known = access if os.path.isdir(path) else access & _OF_FILES
        calls.syscall(_ADD, ruleset, _BENEATH, struct.pack("=Qi", known, fd), 0)
    finally:
        os.close(fd)
