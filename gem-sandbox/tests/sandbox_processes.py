"""The processes of a test's sandbox: those below this one that were not there before it."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_strangers: set[int] = set()


def leave_out_those_of_others() -> None:
    """What is below this process now belongs to other tests: `ours` leaves it out from here on."""
    _strangers.clear()
    _strangers.update(below(os.getpid()))


def ours() -> list[int]:
    """Every process below this one that no other test had before, parents before their children."""
    return [pid for pid in below(os.getpid()) if pid not in _strangers]


def below(pid: int) -> list[int]:
    """Every process below `pid`, as /proc tells, parents before their children; none where it has ended."""
    children: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it may end at any time
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # so may one of its threads
                children += [int(word) for word in (task / "children").read_text().split()]
    return children + [one for child in children for one in below(child)]


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether `condition` becomes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()
