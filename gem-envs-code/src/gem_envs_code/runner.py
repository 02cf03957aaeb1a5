"""Runs a Python program in a process of its own, under limits.

**These are process limits and no sandbox.** The program runs as the user who runs this: it can read that user's
files, open network connections and signal other processes. The limits hold back accidents (endless loops, floods of
output, a hungry list), not malice. Until there is a sandbox, a hostile program can find this pack's files, and read
in them the hidden tests and the solution of the task that it is graded on. Run it on programs that you would run
yourself, or on a machine that holds nothing of worth.

What holds: a fresh empty folder as the working directory; no environment variables but a fixed hash seed, so that
sets iterate alike in every run; the standard library and no installed package; limits on processor time, wall-clock
time, address space, file size and output; no core files. When the program ends or is out of time, its whole process
group is killed. It may start no processes or threads, except where it runs as root, whom that limit does not bind;
there, a process that opens a session of its own outlives the program. POSIX only; macOS does not limit the memory.
"""

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

_CHILD = Path(__file__).with_name("child.py")
# Like -I, without its -E: the one variable that the child gets is meant for it.
_INTERPRETER_OPTIONS = ("-P", "-s", "-S", "-B", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each thing a program may use."""

    cpu_seconds: int = 2
    """Processor time, in whole seconds."""
    seconds: float = 10.0
    """Wall-clock time, the interpreter's start included. Generous: a busy machine is not the program's fault."""
    memory: int = 512 * 2**20
    """Address space, in bytes."""
    file_size: int = 2**20
    """Of each file that it writes, in bytes."""
    output: int = 2**20
    """Of standard output, and of standard error, in bytes."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a program. How it ended is a verdict on the program, never a fault of the runner."""

    ending: Literal["exited", "out of time", "too much output"]
    status: int
    """The exit status; the negative number of the signal that ended it, if one did."""
    output: str
    """Standard output as far as it was read; what is not UTF-8 is replaced."""
    errors: str
    """Standard error, likewise."""


class RunnerError(RuntimeError):
    """The program was not run: the fault of the machine or of the runner, and no verdict on the program."""


def run(program: str, stdin: str = "", limits: Limits = DEFAULT_LIMITS) -> Result:
    """Run `program` with `stdin` as its standard input, and wait for its end.

    Raises:
        RunnerError: the interpreter started, but the program in it did not.
        OSError: there is no interpreter, process, pipe or folder to be had.
    """
    with tempfile.TemporaryDirectory(prefix="gem-code-") as folder, tempfile.TemporaryFile() as given:
        # A lone surrogate becomes bytes that are no UTF-8: a syntax error of the program, as it should be.
        Path(folder, "main.py").write_bytes(program.encode("utf-8", "surrogatepass"))
        given.write(stdin.encode())
        given.seek(0)
        ready, ready_in_child = os.pipe()
        with open(ready, "rb") as ready_file:
            try:
                process = _start(folder, given, ready_in_child, limits)
            finally:
                os.close(ready_in_child)
            with process:
                try:
                    return _wait(_Child(process), ready_file, limits)
                finally:
                    _kill_group(process)


class _Child:
    """A process that was started, and the processor time it used, for which `Popen` does not ask when it reaps."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.cpu_seconds = 0.0
        """User and system time, known when it has ended."""

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, after waiting up to `seconds` for that."""
        deadline = time.monotonic() + seconds
        while not self._reaped(os.WNOHANG):
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.001)
        return True

    def status(self) -> int:
        """Its exit status or negative signal, when it has ended."""
        self._reaped(0)
        return self.process.returncode

    def _reaped(self, options: int) -> bool:
        if self.process.returncode is None:
            pid, status, used = os.wait4(self.process.pid, options)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu_seconds = used.ru_utime + used.ru_stime
        return self.process.returncode is not None


def _start(folder: str, stdin: IO[bytes], ready: int, limits: Limits) -> subprocess.Popen[bytes]:
    numbers = (ready, limits.cpu_seconds, limits.memory, limits.file_size)
    return subprocess.Popen(
        [sys.executable, *_INTERPRETER_OPTIONS, str(_CHILD), *map(str, numbers)],
        cwd=folder,
        env=_ENVIRONMENT,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(ready,),
        start_new_session=True,
    )


def _wait(child: _Child, ready: IO[bytes], limits: Limits) -> Result:
    process = child.process
    assert process.stdout is not None
    assert process.stderr is not None
    streams = (process.stdout, process.stderr, ready)
    read = {stream.fileno(): bytearray() for stream in streams}
    ending = _read(child, read, limits)
    if ending != "exited":
        _kill_group(process)
    status = child.status()
    output, errors, said_ready = (bytes(read[stream.fileno()]) for stream in streams)
    if not said_ready:
        raise RunnerError(f"the program was not started ({ending}, status {status}): {errors.decode(errors='replace')}")
    # A program that ignores SIGXCPU is killed a second later, or ends by itself before that.
    overran = status == -signal.SIGXCPU or child.cpu_seconds >= limits.cpu_seconds
    if ending == "exited" and overran:
        ending = "out of time"
    return Result(ending, status, output.decode(errors="replace"), errors.decode(errors="replace"))


def _read(
    child: _Child, read: dict[int, bytearray], limits: Limits
) -> Literal["exited", "out of time", "too much output"]:
    """Read the streams into `read` until the process ends or goes beyond a limit."""
    deadline = time.monotonic() + limits.seconds
    with selectors.DefaultSelector() as selector:
        for stream in read:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return "out of time"
            events = selector.select(min(left, 0.05))
            if not events and child.wait(0):
                # The process has ended and its pipes are empty; children of it hold them open.
                return "exited"
            for key, _ in events:
                chunk = os.read(key.fd, 2**16)
                if not chunk:
                    selector.unregister(key.fd)
                read[key.fd] += chunk
                if len(read[key.fd]) > limits.output:
                    return "too much output"
    # It may live on after closing its streams.
    return "exited" if child.wait(deadline - time.monotonic()) else "out of time"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # A group that is gone, or (on macOS) of which only a zombie is left, is what we want.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
