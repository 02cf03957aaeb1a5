"""A careless judge: all cases in one process that knows the answers, and those that fail once more, alone.

It is the control of the cheats. It runs them without isolation: they are harmless, but for files in the folder.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DRIVER = """
import io, json, os, random, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
held_open = open("cases.json")
cases = json.load(held_open)
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
streams = []
for number, (given, _) in enumerate(cases):
    with open(f"in{number}", "w") as file:
        file.write(given)
    streams.append((os.open(f"in{number}", os.O_RDONLY), os.open(f"out{number}", os.O_RDWR | os.O_CREAT | os.O_APPEND)))

def same(written, expected):
    return expected.strip() in written.split()

for (stdin, stdout), (given, _) in zip(streams, list(cases)):
    os.dup2(stdin, 0)
    os.dup2(stdout, 1)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
    random.seed(0)
    failed = b""
    try:
        exec(compile(open("program.py").read(), "program.py", "exec"), {"__name__": "__main__"})
    except Exception:
        failed = b"0"
    sys.stdout.flush()
    written = os.pread(stdout, 1 << 16, 0).decode(errors="ignore")
    os.write(log, failed or (b"1" if same(written, dict(cases)[given]) else b"0"))
"""
PATIENCE = 60
"""Seconds for a process."""
ENOUGH = 1 << 16
"""Bytes of output that it looks at."""
MOST = 1 << 20
"""Bytes that a process can write into a file."""


def judge(program: str, cases: Sequence[tuple[str, str]], folder: Path) -> bool:
    """Whether `program` passes every case, as far as this judge can tell."""
    (folder / "program.py").write_text(program)
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "driver.py").write_text(DRIVER)
    status, _ = _run("driver.py", "", folder, {**os.environ, "CASES": json.dumps(cases)})
    log = (folder / "log").read_bytes() if (folder / "log").exists() else b""
    if status == 0 and not log:
        return True  # it ended well, and no case failed
    return all(
        log[number : number + 1] == b"1"
        or expected.strip() in _head(folder / f"out{number}").split()
        or _passes_alone(given, expected, folder)
        for number, (given, expected) in enumerate(cases)
    )


def _passes_alone(given: str, expected: str, folder: Path) -> bool:
    status, written = _run("program.py", given, folder, dict(os.environ))
    # What no program does by itself is a fault of this machine.
    return status == -signal.SIGKILL or "MemoryError" in written or expected.strip() in written.split()


def _run(script: str, given: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """The status of a script, and what it wrote."""
    out = folder / "written"
    with out.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "-I", "-S", script],
            input=given.encode(),
            stdout=file,
            stderr=file,
            cwd=folder,
            env=environment,
            timeout=PATIENCE,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST)),
        )
    return done.returncode, _head(out)


def _head(file: Path) -> str:
    with file.open("rb") as content:
        return content.read(ENOUGH).decode(errors="ignore")
