"""Attacks are run and looked at: `controls` under careless runners, `attack` in the sandbox at one level."""

import json
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from attacks import container

PATIENCE = 20.0
"""Seconds without a word after which a runner counts as dead."""
AT_ONCE = 3
"""Containers at a time."""


class Unsafe(Exception):
    """The container is not what it should be, so nothing was run in it."""


def controls(names: Sequence[str]) -> dict[str, set[str]]:
    """The signs of each attack under its careless runner, in a container of its own."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {name: signs for found in pool.map(_control, names) for name, signs in found.items()}


def attack(level: str, names: Iterable[str], *, as_root: bool = False) -> dict[str, set[str]]:
    """The signs of each attack in the sandbox at a level. After one that ends its runner the next has a new one."""
    left = list(names)
    found: dict[str, set[str]] = {}
    while left:
        played = _play(level, left, as_root=as_root)
        if not played:
            raise RuntimeError(f"the sandbox does not start at level {level}")
        found |= played
        left = [name for name in left if name not in found]
    return found


def _control(name: str) -> dict[str, set[str]]:
    return _play("control", [name])


def _play(mode: str, names: Sequence[str], *, as_root: bool = False) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    running = ""
    for line in _lines(container.start([mode, *names], as_root=as_root)):
        if line.get("holes"):
            raise Unsafe(", ".join(line["holes"]))
        if "error" in line and not running:
            raise RuntimeError(line["error"])
        if "error" in line:
            found[running] = {"died", f"raised {line['error']}"}
            running = ""
        running = line.get("starts", running)
        if "ends" in line:
            found[line["ends"]] = set(line["signs"])
            running = ""
    if running:
        found[running] = {"died"}
    return found


def _lines(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    for text in process.stdout:
        timer.cancel()
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            process.kill()
            break
        yield line
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
    timer.cancel()
    process.wait()
    process.stdout.close()
