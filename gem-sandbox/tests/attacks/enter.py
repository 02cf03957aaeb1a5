"""Change to a user without rights, then run bubblewrap: `python enter.py PLAN`.

PLAN is JSON, as `container` writes it.

Root first binds what the container is to see below `/mnt` of a mount namespace of its own, because that user
may not reach it (an interpreter below `/root`, say). Then it becomes a user id that no account has, so that
every limit on processes counts, which for user 0 it does not. With `as_root` that user is number 0 of a user
namespace, with 65536 numbers of its own: root as far as a program inside can tell.
"""

import ctypes
import json
import os
import sys

UNUSED_ID = 1_900_000_000
NUMBERS = 65_536
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
STAGE = "/mnt"

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    texts = [text.encode() for text in (source, target, kind, options)]
    check(libc.mount(texts[0], texts[1], texts[2] or None, flags, texts[3] or None))


def stage(paths: list[str]) -> dict[str, str]:
    """Each path bound to a folder or file that everybody reaches."""
    check(libc.unshare(CLONE_NEWNS))
    mount("none", "/", "", MS_REC | MS_PRIVATE, "")
    mount("gem", STAGE, "tmpfs", 0, "size=1m,mode=755")
    staged: dict[str, str] = {}
    for number, path in enumerate(paths):
        staged[path] = f"{STAGE}/{number}"
        os.mkdir(staged[path])
        mount(path, staged[path], "", MS_BIND | MS_REC, "")
    return staged


def own_namespace() -> None:
    """A user namespace in which we are root. Its numbers are entered from outside, by a child that is still root."""
    entered_r, entered_w = os.pipe()
    asked_r, asked_w = os.pipe()
    us = os.getpid()
    if os.fork() == 0:
        os.read(asked_r, 1)
        for name in ("uid_map", "gid_map"):
            with open(f"/proc/{us}/{name}", "w", encoding="ascii") as table:
                table.write(f"0 {UNUSED_ID} {NUMBERS}")
        os.write(entered_w, b"1")
        os._exit(0)
    check(libc.unshare(CLONE_NEWUSER))
    os.write(asked_w, b"1")
    os.read(entered_r, 1)
    os.wait()
    for end in (entered_r, entered_w, asked_r, asked_w):
        os.close(end)
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def main() -> None:
    plan = json.loads(sys.argv[1])
    paths = list(dict.fromkeys(path for path, _ in plan["shown"]))
    where = {path: path for path in paths}
    if os.geteuid() == 0:
        os.setgroups([])
        where = stage(paths)
        if plan["as_root"]:
            own_namespace()
        else:
            os.setresgid(UNUSED_ID, UNUSED_ID, UNUSED_ID)
            os.setresuid(UNUSED_ID, UNUSED_ID, UNUSED_ID)
    shown = [text for path, target in plan["shown"] for text in ("--ro-bind", where[path], target)]
    command = [*plan["before"], *shown, *plan["after"]]
    os.execve(plan["bwrap"], command, plan["environ"])


main()
