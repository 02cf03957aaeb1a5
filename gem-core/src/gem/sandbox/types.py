"""What goes into a sandbox and what comes out, in frozen types."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, get_args

from gem.errors import ConfigError

Level = Literal["bubblewrap", "unshare", "landlock", "seccomp", "process"]
"""What keeps a program in, strongest first. `docs/sandbox.md` says what each of them holds."""

LEVELS: tuple[Level, ...] = get_args(Level)
"""The levels, strongest first."""

Reason = Literal["ok", "error", "timeout", "cpu", "memory", "output", "disk", "killed", "sandbox_error"]
"""How a program ended.

ok: with status 0. error: with another one. cpu: its CPU time was up. timeout: its wall-clock time was up. memory: it
asked for more than it may have, and did not get over it. output: it wrote more than it may. disk: it ended in failure,
with its disk full. killed: a signal ended it, which is not one of the above. sandbox_error: the sandbox failed; the
program is not to blame, and no program can bring this about.
"""

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use.

    Attributes:
        timeout: Seconds of CPU time.
        wall: Seconds until it is ended whatever it does. None: `4 * timeout + 1`, so that the verdict on a program
            that computes does not depend on how busy the machine is.
        memory: Bytes of address space, beyond what the interpreter has when the program starts.
        output: Bytes of standard output, and as many of standard error.
        disk: Bytes of its folder, and of any one file.
        inodes: Files and folders.
        threads: Threads, where processes can be counted by program: as root, or in a user namespace.
        processes: Processes that it may start. 0: it can start none, and no other program either.
        open_files: Descriptors open at once.
    """

    timeout: float = 5.0
    wall: float | None = None
    memory: int = 256 * MIB
    output: int = 4 * MIB
    disk: int = 16 * MIB
    inodes: int = 1000
    threads: int = 64
    processes: int = 0
    open_files: int = 128

    def __post_init__(self) -> None:
        for name in ("timeout", "memory", "output", "disk", "inodes", "threads", "open_files"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is above 0, not {getattr(self, name)!r}")
        if self.wall is not None and self.wall <= 0:
            raise ConfigError(f"wall is above 0, not {self.wall!r}")
        if self.processes < 0:
            raise ConfigError(f"processes is at least 0, not {self.processes!r}")

    @property
    def wall_seconds(self) -> float:
        """Seconds until the program is ended whatever it does."""
        return 4 * self.timeout + 1 if self.wall is None else self.wall


def _no_files() -> dict[str, str | bytes]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One program, with its input.

    Attributes:
        code: The program, in Python.
        stdin: What it reads from standard input.
        files: What its folder holds when it starts: contents by name, relative to the folder.
        limits: What it may use. None: what its sandbox says.
    """

    code: str
    stdin: str | bytes = ""
    files: Mapping[str, str | bytes] = field(default_factory=_no_files)
    limits: Limits | None = None

    def __post_init__(self) -> None:
        for name in self.files:
            path = PurePosixPath(name)
            if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name:
                raise ConfigError(f"a file's name is relative to the program's folder and stays in it, not {name!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a program ended, and what it wrote.

    Attributes:
        stdout, stderr: What it wrote, decoded as UTF-8; bytes that are none become U+FFFD.
        exit_code: Its exit status, or None where a signal or the sandbox ended it.
        signal: The number of the signal that ended it, or None.
        reason: How it ended, in one word: see `Reason`.
        note: What there is to say about `reason`, or "".
        duration: Wall-clock seconds.
        cpu: Seconds of CPU time.
        max_rss: Bytes of memory it had at most, with the interpreter's.
        truncated: Whether `stdout` or `stderr` is cut off.
        level: What kept it in.
        isolated: Whether anything did: False at level "process".
    """

    stdout: str
    stderr: str
    exit_code: int | None
    signal: int | None
    reason: Reason
    note: str = ""
    duration: float
    cpu: float
    max_rss: int
    truncated: bool
    level: Level
    isolated: bool

    @property
    def ok(self) -> bool:
        """Whether the program ended with status 0, within its limits."""
        return self.reason == "ok"
