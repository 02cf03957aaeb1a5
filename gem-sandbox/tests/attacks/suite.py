"""Attacks are run and looked at: `controls` under careless runners, `attack` in the sandbox at one level."""

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from attacks import container

PATIENCE = 30.0
"""Seconds without a word after which a runner counts as dead."""
AT_ONCE = 3
"""Controls at a time."""

Signs = dict[str, set[str]]
"""For each attack, what it was seen to do that a program must not do."""


class Unsafe(Exception):
    """The container is not what it should be, so nothing was run in it."""


class NoSandbox(Exception):
    """The sandbox does not start."""


def controls(names: Iterable[str]) -> Signs:
    """Each attack under its careless runner, in a container of its own."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {name: signs for found in pool.map(_control, names) for name, signs in found.items()}


def attack(level: str, names: Iterable[str], *, as_root: bool = False) -> Signs:
    """Each attack in the sandbox at a level. After one that ends its runner the next has a new one."""
    left = list(names)
    found: Signs = {}
    while left:
        found |= _play(level, left, as_root=as_root)
        left = [name for name in left if name not in found]
    return found


def _control(name: str) -> Signs:
    return _play("control", [name])


def _play(mode: str, names: Sequence[str], *, as_root: bool = False) -> Signs:
    found: Signs = {}
    running = None
    for line in _lines(container.start([mode, *names], as_root=as_root)):
        if line.get("holes"):
            raise Unsafe(", ".join(line["holes"]))
        if "starts" in line:
            running = line["starts"]
        if "ends" in line:
            found[line["ends"]] = set(line["signs"])
            running = None
        if "error" in line and running is None:
            raise NoSandbox(line["error"])
    if running is not None:
        found[running] = {"died"}
    if not found:
        raise NoSandbox(f"no result of {', '.join(names)} at {mode}")
    return found


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    for text in process.stdout:
        timer.cancel()
        try:
            line = json.loads(text)
        except json.JSONDecodeError:  # the program has got at what its runner writes
            process.kill()
            break
        yield line
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
    timer.cancel()
    process.wait()
    process.stdout.close()
