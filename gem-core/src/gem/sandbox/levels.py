"""Which levels work here, found out by trying them."""

import os
import platform

from gem.errors import SandboxUnavailable
from gem.sandbox.launch import start
from gem.sandbox.slot import Slot
from gem.sandbox.syscalls import MACHINES
from gem.sandbox.types import LEVELS, Level
from gem.sandbox.visible import View


def open_slot(view: View, preload: tuple[str, ...], level: Level | None, min_level: Level) -> Slot:
    """A slot at `level`, or at the strongest level that works and is not below `min_level`.

    Raises:
        SandboxUnavailable: there is none; the message says for each level why.
    """
    wanted = LEVELS[: LEVELS.index(min_level) + 1] if level is None else (level,)
    failures: list[str] = []
    for candidate in wanted:
        try:
            return _try(candidate, view, preload)
        except SandboxUnavailable as error:
            failures.append(f"{candidate}: {error}")
    raise SandboxUnavailable("no sandbox as strong as was asked for works here:\n  " + "\n  ".join(failures))


def _try(level: Level, view: View, preload: tuple[str, ...]) -> Slot:
    if not hasattr(os, "pidfd_open"):
        raise SandboxUnavailable("it needs Linux 5.4 or newer")
    if level != "process" and platform.machine() not in MACHINES:
        raise SandboxUnavailable(f"it knows the system calls of {' and '.join(MACHINES)} only")
    return Slot(start(level, view, preload), level)
