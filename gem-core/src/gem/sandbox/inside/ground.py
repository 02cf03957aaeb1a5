"""Where programs of a slot run: an empty folder for each, and nothing of the one before."""

import os
import resource
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from ctypes import Array, c_char, create_string_buffer
from typing import Any

from . import calls


class Ground:
    """A slot's ground at any level: a folder of this machine, limits, and a filter where the level has one."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.folder: str = config["folder"]
        self._uid: int | None = config["uid"]
        self._filters = {name: _Filter(bytes.fromhex(code)) for name, code in config["filters"].items()}
        self._spare: int = config["spare_processes"]

    def fresh(self, job: Mapping[str, Any]) -> None:
        """Make the folder empty, and the current one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        os.chdir(self.folder)

    def drop_rights(self) -> None:
        """Give up, in the child, whatever the server may do and a program may not."""

    def confine(self, job: Mapping[str, Any]) -> None:
        """Bring this process, the child, under its limits. There is no way back."""
        limits = {
            resource.RLIMIT_AS: job["address_space"],
            resource.RLIMIT_CPU: job["cpu_seconds"],
            resource.RLIMIT_FSIZE: job["file_size"],
            resource.RLIMIT_NOFILE: job["open_files"],
            resource.RLIMIT_CORE: 0,
        }
        if self._spare >= 0:
            limits[resource.RLIMIT_NPROC] = self._spare + job["processes"] + job["threads"]
        for which, limit in limits.items():
            hard = resource.getrlimit(which)[1]
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(which, (most, most))
        calls.prctl(calls.SET_DEATH_SIGNAL, signal.SIGKILL)
        if self._filters:
            self._filters["forks" if job["processes"] else "alone"].install()

    def sweep(self) -> None:
        """End every process that the program left behind."""
        own = f"/proc/self/task/{os.getpid()}/children"
        while True:
            with open(own) as file:
                left = [int(pid) for pid in file.read().split()]
            if not left:
                return
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            for pid in left:
                os.waitpid(pid, 0)

    def full(self) -> bool:
        """Whether the program has used up its disk."""
        return False


class PrivateGround(Ground):
    """A slot's ground in namespaces of its own: a tmpfs for each program, and the server is their process 1."""

    def fresh(self, job: Mapping[str, Any]) -> None:
        with suppress(OSError):
            calls.unmount(self.folder)
        options = f"size={job['disk']},nr_inodes={job['inodes']},mode=1777"
        calls.mount("tmpfs", self.folder, "tmpfs", calls.NO_SUID | calls.NO_DEV, options)
        os.chdir(self.folder)

    def drop_rights(self) -> None:
        if self._uid is not None:
            os.setgroups([])
            os.setresgid(self._uid, self._uid, self._uid)
            os.setresuid(self._uid, self._uid, self._uid)
        calls.keep_capabilities()

    def sweep(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        with suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)

    def full(self) -> bool:
        disk = os.statvfs(self.folder)
        return disk.f_bfree == 0 or disk.f_ffree == 0


class _Filter:
    def __init__(self, code: bytes) -> None:
        self._code: Array[c_char] = create_string_buffer(code, len(code))
        self._places = [at for at in range(4, len(code), 8) if code[at : at + 4] == OWN_PID]

    def install(self) -> None:
        for at in self._places:
            self._code[at : at + 4] = os.getpid().to_bytes(4, "little")
        calls.install_filter(self._code)


OWN_PID = (0x7FED1234).to_bytes(4, "little")
"""Stands in a filter for the pid of the process that installs it."""
