"""Levels, limits, jobs and results: the frozen types that go into a sandbox and come out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from gem_sandbox.checks import check_int, did_you_mean
from gem_sandbox.errors import ConfigError
from gem_sandbox.files import check_names

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

_MOST_SECONDS = 1e9  # what clocks and sockets can wait for
_MOST_BYTES = 1 << 46  # what a process can address
_MOST_OUTPUT = 1 << 30  # what one read can return
_MOST_THINGS = 1 << 31
_COUNTS = {
    "memory": ("memory, in bytes,", 1, _MOST_BYTES),
    "output": ("output, in bytes,", 1, _MOST_OUTPUT),
    "disk": ("disk, in bytes,", 1, _MOST_BYTES),
    "inodes": ("inodes", 1, _MOST_THINGS),
    "threads": ("threads", 1, _MOST_THINGS),
    "processes": ("processes", 0, _MOST_THINGS),
    "open_files": ("open_files", 1, _MOST_THINGS),
}
"""Limits that are whole numbers: what messages call them, the least and the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use.

    The kernel limits time and memory for each process: with `processes` above 0, each of them may use as much.

    Attributes:
        timeout: Seconds of CPU time. 5 by default.
        wall: Wall-clock seconds until it is ended. None, the default: `4 * timeout + 1`, so that the verdict on
            a program that computes does not depend on how busy the machine is.
        memory: Bytes of address space, beyond what the interpreter has when the program starts. 256 MiB by default.
        output: Bytes of standard output, and as many of standard error. 4 MiB by default.
        disk: Bytes of its folder, and of any one file. 16 MiB by default.
        inodes: Files and folders. 1000 by default.
        threads: Threads beside its first, where `processes` is 0 and they can be counted by program: as root, or in a
            user namespace. 64 by default.
        processes: Processes at once beside its first, including those that they start. The kernel has one number for
            threads and processes: where this is above 0, threads beside the first count among them, and `threads` is
            without effect. 0, the default: it can start no process, and no other program either.
        open_files: Descriptors open at once, in each process. 128 by default.

    Raises:
        ConfigError: one of them is not a number, or out of range.
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
        for name, (called, low, high) in _COUNTS.items():
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                object.__setattr__(self, name, check_int(called, value, low, high))
        _check_seconds("timeout", self.timeout)
        if self.wall is not None:
            _check_seconds("wall", self.wall)

    @property
    def wall_seconds(self) -> float:
        """Wall-clock seconds until the program is ended."""
        return 4 * self.timeout + 1 if self.wall is None else self.wall

    def changed(self, changes: Mapping[str, Any]) -> "Limits":
        """These limits with some of them changed, by name.

        Raises:
            ConfigError: a name is not that of a limit, or a value is out of range.
        """
        for name in changes:
            if name not in _NAMES:
                near = did_you_mean(name, (*_NAMES, *_ARGUMENTS))
                raise ConfigError(f"there is no limit {name!r}.{near} The limits are {', '.join(_NAMES)}.")
        return replace(self, **changes) if changes else self


_NAMES = tuple(Limits.__dataclass_fields__)
_ARGUMENTS = ("stdin", "files", "limits")
"""What the functions that take limits by name take beside them: a slip in one of these looks like a limit."""


def _check_seconds(name: str, value: Any) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= _MOST_SECONDS:
        raise ConfigError(f"{name} is a number of seconds above 0 and at most {_MOST_SECONDS:g}, not {value!r}")


def check_type(name: str, value: Any, *types: type) -> None:
    """Raise ConfigError unless `value`, that of the argument `name`, is of one of `types`."""
    if not isinstance(value, types):
        wanted = " or ".join(each.__name__ for each in types)
        raise ConfigError(f"{name} is of type {wanted}, not {type(value).__name__}")


def check_levels(level: Any, min_level: Any) -> None:
    """Raise ConfigError unless the first is a level or None, and the second a level."""
    for name, value in (("level", level), ("min_level", min_level)):
        if value not in LEVELS and (value is not None or name == "min_level"):
            near = did_you_mean(value, LEVELS) if isinstance(value, str) else ""
            raise ConfigError(f"{name} is one of {', '.join(LEVELS)}, not {value!r}.{near}")


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

    Raises:
        ConfigError: one of them is of another type, or the folder cannot hold files of these names.
    """

    code: str
    stdin: str | bytes = ""
    files: Mapping[str, str | bytes] = field(default_factory=_no_files)
    limits: Limits | None = None

    def __post_init__(self) -> None:
        check_type("code", self.code, str)
        check_type("stdin", self.stdin, str, bytes)
        check_type("files", self.files, Mapping)
        if self.limits is not None:
            check_type("limits", self.limits, Limits)
        for name, content in self.files.items():
            check_type("the name of a file", name, str)
            check_type(f"the content of the file {name!r}", content, str, bytes)
        check_names(self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a program ended, and what it wrote.

    Attributes:
        stdout, stderr: What it wrote, decoded as UTF-8; invalid bytes become U+FFFD.
        exit_code: Its exit status, or None where a signal or the sandbox ended it.
        signal: The number of the signal that ended it, or None.
        reason: How it ended, in one word: see `Reason`.
        note: What there is to say about `reason`, or "".
        duration: Wall-clock seconds.
        cpu: Seconds of CPU time.
        max_rss: The most bytes of memory that it used, the interpreter's included.
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
