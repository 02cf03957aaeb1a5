"""Starting the fork server of a slot, at one level of isolation."""

import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gem.errors import SandboxUnavailable
from gem.sandbox import identity, seccomp
from gem.sandbox.syscalls import MACHINES
from gem.sandbox.types import Level
from gem.sandbox.visible import INSIDE, View

START_SECONDS = 60.0
"""How long a slot may take to start: it may import what is slow to import."""

FOLDER = "/sandbox"
"""A program's folder, where it has a file system of its own: a path that no machine has."""

_PROGRAM = (
    "import sys, types; package = types.ModuleType('inside'); package.__path__ = [sys.argv[1]]; "
    "sys.modules['inside'] = package; from inside.server import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)
_ENVIRONMENT = {
    "HOME": FOLDER,
    "TMPDIR": FOLDER,
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PATH": "/usr/bin:/bin",
    # Sets of strings have one order in every slot, so that the same program gives the same output.
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
_SERVER_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_KILL")


@dataclass(frozen=True, slots=True)
class Server:
    """A fork server that is ready: its process (or the one around it), our end of its socket, its folder if it has one."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    folder: str | None

    def end(self) -> None:
        """End it and whatever runs in it."""
        self.socket.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def start(level: Level, view: View, preload: tuple[str, ...]) -> Server:
    """Start a fork server.

    Raises:
        SandboxUnavailable: it does not start here; the message says why.
    """
    if not hasattr(os, "pidfd_open"):
        raise SandboxUnavailable("the sandbox needs Linux 5.4 or newer")
    if level != "process" and platform.machine() not in MACHINES:
        raise SandboxUnavailable(f"the sandbox knows the system calls of {' and '.join(MACHINES)} only")
    with ExitStack() as undo:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        undo.callback(ours.close)
        ours.settimeout(START_SECONDS)
        stderr = os.memfd_create("stderr")
        supervisor = os.pidfd_open(os.getpid())
        folder = None
        if level == "process":
            folder = tempfile.mkdtemp(prefix="gem-sandbox-")
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            process, uid = _spawn(level, view, theirs.fileno(), supervisor, stderr)
            undo.callback(process.kill)
            try:
                ours.send(json.dumps(_config(level, view, preload, folder, uid)).encode())
                answer = ours.recv(1 << 16)
            except OSError:
                answer = b""
            if not answer:
                process.kill()
                process.wait()
                said = os.pread(stderr, 1 << 14, 0).decode("utf-8", "replace").strip()
                raise SandboxUnavailable(said.splitlines()[-1] if said else f"{level} did not start")
        finally:
            theirs.close()
            os.close(supervisor)
            os.close(stderr)
        undo.pop_all()
        return Server(process, ours, folder)


def _config(level: Level, view: View, preload: tuple[str, ...], folder: str | None, uid: int | None) -> dict[str, Any]:
    filters: dict[str, str] = {}
    if level != "process":
        machine = platform.machine()
        filters["alone"] = seccomp.build(machine).hex()
        filters["forks"] = seccomp.build(machine, forks=True).hex()
    private = level in ("bubblewrap", "unshare")
    return {
        "private": private,
        "folder": FOLDER if folder is None else folder + "/work",
        "uid": 1 if private and uid is not None else uid,
        "path": view.search,
        "preload": preload,
        "filters": filters,
        "spare_processes": 2 if private else -1,
    }


def _spawn(
    level: Level, view: View, channel: int, supervisor: int, stderr: int
) -> tuple[subprocess.Popen[bytes], int | None]:
    python = [view.interpreter, "-P", "-s", "-S", "-B", "-c", _PROGRAM, str(INSIDE), str(channel), str(supervisor)]
    if level == "bubblewrap":
        return _bubblewrap(view, python, (channel, supervisor), stderr)
    return _popen(python, (channel, supervisor), stderr), None


def _popen(command: list[str], fds: tuple[int, ...], stderr: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )


def _bubblewrap(
    view: View, python: list[str], fds: tuple[int, ...], stderr: int
) -> tuple[subprocess.Popen[bytes], int | None]:
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxUnavailable("bubblewrap is not installed: apt-get install bubblewrap")
    private = identity.private_uid()
    info, info_in = os.pipe()
    ready_out, ready = os.pipe()
    with open(info, "rb") as told, open(ready, "wb") as tell:
        try:
            options = ["--info-fd", str(info_in), "--userns-block-fd", str(ready_out), *_bubblewrap_options(view)]
            process = _popen([found, *options, "--", *python], (*fds, info_in, ready_out), stderr)
        finally:
            os.close(info_in)
            os.close(ready_out)
        said = told.read()
        if said:
            identity.map_users(json.loads(said)["child-pid"], private)
        with suppress(BrokenPipeError):
            tell.write(b"1")
            tell.flush()
    return process, private


def _bubblewrap_options(view: View) -> list[str]:
    options = ["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-pid", "--unshare-net", "--unshare-ipc"]
    options += ["--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox", "--as-pid-1", "--new-session"]
    for capability in _SERVER_CAPABILITIES:
        options += ["--cap-add", capability]
    for folder in sorted({str(above) for path in view.paths for above in Path(path).parents} - {"/"}):
        options += ["--perms", "0755", "--dir", folder]
    for path in view.paths:
        options += ["--ro-bind", path, path]
    for path in view.hidden:
        options += ["--tmpfs", path]
    for path in view.modules:
        options += ["--ro-bind", path, path]
    for path in view.hidden:
        options += ["--remount-ro", path]
    for device in view.devices:
        options += ["--dev-bind", device, device]
    options += ["--perms", "0755", "--dir", FOLDER]
    if not any(path.startswith("/tmp/") for path in (*view.paths, *view.modules)):
        options += ["--symlink", FOLDER, "/tmp"]
    return [*options, "--chdir", "/", "--remount-ro", "/"]
