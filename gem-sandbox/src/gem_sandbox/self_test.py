"""The self-test: a program that tries to break out, run in each kind of slot before the slot is trusted."""

import json
import os
import secrets
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gem_sandbox.errors import SandboxUnavailable
from gem_sandbox.job import Job
from gem_sandbox.limits import Limits
from gem_sandbox.slot import SandboxSlot, SlotLost

_PROGRAM = """
import json, os, socket, sys
task = json.loads(sys.stdin.read())

def read_files():
    with open(task["secret"], encoding="utf-8") as file:
        return file.read() == task["content"]

def write_files():
    with open(task["target"], "w") as file:  # which may be a file of its own; the supervisor looks
        file.write("x")

def list_folders():
    return os.path.basename(task["secret"]) in os.listdir(os.path.dirname(task["secret"]))

def use_the_network():
    with socket.create_connection(("127.0.0.1", task["port"]), timeout=1):
        return True

def signal_other_processes():
    if task["pid"] == os.getpid():  # a number of another namespace, which here is the program's own
        return False
    os.kill(task["pid"], 0)
    return True

def start_processes():
    if os.fork() == 0:
        os._exit(0)
    return True

def trace_other_processes():
    import ctypes
    return ctypes.CDLL(None).ptrace(0x4206, task["pid"], 0, 0) == 0  # PTRACE_SEIZE, which does not stop the process

done = []
for attempt in (read_files, write_files, list_folders, use_the_network, signal_other_processes, start_processes,
                trace_other_processes):
    try:
        if attempt():
            done.append(attempt.__name__.replace("_", " "))
    except OSError:
        pass
print(json.dumps(done))
"""

_LISTING = "list folders"
_READING = {"read files", _LISTING}


def check(slot: SandboxSlot, shown: Sequence[str] = (), listed: Sequence[str] = ()) -> None:
    """Let a program try to get out of `slot`, where it is shown `shown`, and the names of what is below `listed`.

    Raises:
        SandboxUnavailable: it did, or the slot runs no program.
    """
    # Files that are there anyway, and one that is not: a process that is killed meanwhile leaves nothing behind.
    secret = Path(__file__)
    target = Path(tempfile.gettempdir(), f"gem-self-test-{secrets.token_hex()}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        task = {
            "secret": str(secret),
            "content": secret.read_text("utf-8"),
            "target": str(target),
            "port": server.getsockname()[1],
            "pid": os.getpid(),
        }
        try:
            outcome = slot.run(Job(code=_PROGRAM), json.dumps(task).encode(), Limits())
        except SlotLost as error:
            raise SandboxUnavailable(str(error)) from error
        if outcome.status != 0:
            words = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SandboxUnavailable(f"the self-test failed: {words[-1] if words else outcome.status}")
        got_out = set[str](json.loads(outcome.stdout))
        if target.exists():
            target.unlink()
            got_out.add("write files")
        # Level seccomp does not promise to keep from reading, and this folder may be one of those shown.
        if slot.level == "seccomp" or any(secret.is_relative_to(path) for path in shown):
            got_out -= _READING
        if any(secret.is_relative_to(path) for path in listed):
            got_out.discard(_LISTING)
    if got_out:
        raise SandboxUnavailable(f"in the self-test a program could {', '.join(sorted(got_out))}")
