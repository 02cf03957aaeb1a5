"""The levels of isolation that work on this machine, determined by trying them."""

import os
import platform
from dataclasses import dataclass

from gem_sandbox import self_test
from gem_sandbox.errors import SandboxUnavailable
from gem_sandbox.launch import start
from gem_sandbox.levels import LEVELS, Level
from gem_sandbox.slot import SandboxSlot
from gem_sandbox.syscalls import MACHINES
from gem_sandbox.visible import View, view

_trusted: set[Level] = set()  # levels that have passed the self-test in this process


@dataclass(frozen=True, slots=True)
class LevelReport:
    """A test of a `level` here: whether it `works`, and the `reason` why it does not."""

    level: Level
    works: bool
    reason: str


def levels() -> list[LevelReport]:
    """Every level, strongest first, tried now: a slot is started, and a program tries to get out of it."""
    found: list[LevelReport] = []
    sight = view((), ())
    for level in LEVELS:
        try:
            _open(level, sight, (), trusted=False).close()
            found.append(LevelReport(level, True, ""))
        except SandboxUnavailable as error:
            found.append(LevelReport(level, False, str(error)))
    return found


def open_slot(sight: View, preload: tuple[str, ...], level: Level | None, min_level: Level) -> SandboxSlot:
    """A slot at `level`, or at the strongest level that works and is not below `min_level`.

    Raises:
        SandboxUnavailable: there is no such level; the message says for each level why.
    """
    failures: list[str] = []
    for candidate in LEVELS[: LEVELS.index(min_level) + 1] if level is None else (level,):
        try:
            slot = _open(candidate, sight, preload, trusted=candidate in _trusted)
        except SandboxUnavailable as error:
            failures.append(f"{candidate}: {error}")
        else:
            _trusted.add(candidate)
            return slot
    cures = "Install bubblewrap, allow user namespaces, or accept less by name: `min_level` or `level`."
    raise SandboxUnavailable("\n  ".join(["no sandbox as strong as was asked for works here.", *failures, cures]))


def _open(level: Level, sight: View, preload: tuple[str, ...], *, trusted: bool) -> SandboxSlot:
    if not hasattr(os, "pidfd_open") or not hasattr(os, "memfd_create"):
        raise SandboxUnavailable(
            "it needs Linux 5.4 or newer; on other systems, use a container or a virtual machine with Linux"
        )
    if level != "process" and platform.machine() not in MACHINES:
        raise SandboxUnavailable(f"it knows the system calls of {' and '.join(MACHINES)} only")
    try:
        slot = SandboxSlot(start(level, sight, preload), level)
    except OSError as error:
        raise SandboxUnavailable(str(error)) from error
    if level != "process" and not trusted:
        try:
            # Landlock cannot let a program list the interpreter's library without what is hidden in it.
            self_test.check(slot, sight.shown, sight.paths if level == "landlock" else ())
        except SandboxUnavailable:
            slot.close()
            raise
    return slot
