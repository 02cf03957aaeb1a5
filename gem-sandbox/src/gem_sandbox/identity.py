"""The user that a program runs as: one of its own where possible, and the map of ids of its namespace."""

import itertools
import os
import stat
from pathlib import Path

from gem_sandbox.errors import SandboxUnavailable

_HIGH = 0x60000000  # above the ids that systems and containers give out
_NEEDED = 1 << 0 | 1 << 6 | 1 << 7  # CAP_CHOWN, CAP_SETGID, CAP_SETUID
_counter = itertools.count()


def private_uid() -> int | None:
    """A user id that no other process has, for the programs of one slot; None where this process cannot choose.

    The kernel counts processes by user, and does not count those of uid 0.
    """
    if _capabilities() & _NEEDED != _NEEDED:
        return None
    number = next(_counter)
    ranges = _own_ids("uid_map")
    wanted = _HIGH + os.getpid() % (1 << 16) * 1024 + number % 1024
    if any(first <= wanted < first + count for first, count in ranges):
        return wanted
    first, count = max(ranges, key=lambda one: one[1])
    return first + count - 2 - number % 1024 if count > 1 << 15 else None


def map_users(pid: int, private: int | None) -> None:
    """Give the new user namespace of process `pid` its users: 0 for us and 1 for `private`, if there is one.

    Raises:
        SandboxUnavailable: this process may not.
    """
    uids, gids = f"0 {os.geteuid()} 1\n", f"0 {os.getegid()} 1\n"
    if private is not None:
        uids += f"1 {private} 1\n"
        gids += f"1 {private} 1\n"
    try:
        if private is None:
            _write(pid, "setgroups", "deny")
        _write(pid, "uid_map", uids)
        _write(pid, "gid_map", gids)
    except PermissionError as error:
        raise SandboxUnavailable(f"user {os.geteuid()} may not map users into a namespace: {error.strerror}") from error


def open_to_all(path: str) -> bool:
    """Tell whether every user can read `path`, if they can reach it."""
    mode = os.stat(path).st_mode
    needed = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
    return mode & needed == needed


def reached_by_all(path: str) -> bool:
    """Tell whether every user can reach `path`."""
    return all(above.stat().st_mode & stat.S_IXOTH for above in Path(os.path.realpath(path)).parents)


def _capabilities() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("CapEff:"))


def _own_ids(name: str) -> list[tuple[int, int]]:
    with open(f"/proc/self/{name}") as file:
        rows = [[int(word) for word in line.split()] for line in file]
    return [(inside, count) for inside, _, count in rows]


def _write(pid: int, name: str, text: str) -> None:
    with open(f"/proc/{pid}/{name}", "w") as file:
        file.write(text)
