"""Which levels work here, found out by trying them."""

from gem.errors import SandboxUnavailable
from gem.sandbox.launch import start
from gem.sandbox.slot import Slot
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
            return Slot(start(candidate, view, preload), candidate)
        except SandboxUnavailable as error:
            failures.append(f"{candidate}: {error}")
    raise SandboxUnavailable("no sandbox as strong as was asked for works here:\n  " + "\n  ".join(failures))
