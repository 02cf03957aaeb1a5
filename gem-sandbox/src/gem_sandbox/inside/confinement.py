"""Confinement of a child process before its program begins: resource limits, rules for writing, a seccomp filter."""

import os
import resource
from ctypes import Array, c_char, create_string_buffer
from typing import NamedTuple

from . import calls, landlock


class SeccompFilter:
    """A seccomp filter in which the number `own_pid` stands for the pid of the process that installs it."""

    def __init__(self, code: bytes, own_pid: int) -> None:
        self._code: Array[c_char] = create_string_buffer(code, len(code))
        self._program = calls.filter_of(self._code)
        pattern = own_pid.to_bytes(4, "little")
        self._places = [at for at in range(4, len(code), 8) if code[at : at + 4] == pattern]

    def install(self) -> None:
        """Put this process under it."""
        pid = os.getpid().to_bytes(4, "little")
        for at in self._places:
            self._code[at : at + 4] = pid
        calls.install_filter(self._program)

    def install_listener(self) -> int:
        """Put this process under it, which asks. Returns a descriptor by which to answer."""
        return calls.install_listener(self._program)


class Confinement(NamedTuple):
    """The limits and rules that a child applies to itself before its program. Made before the fork: it costs less."""

    limits: list[tuple[int, tuple[int, int]]]
    filter: SeccompFilter | None
    ruleset: int | None = None

    def enter(self) -> None:
        """Confine this process, the child. It cannot be undone."""
        for which, limit in self.limits:
            resource.setrlimit(which, limit)
        if self.ruleset is not None:
            landlock.restrict(self.ruleset)
        if self.filter is not None:
            self.filter.install()
