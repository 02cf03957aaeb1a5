"""Envs that run in worker processes on this machine.

The workers are fresh interpreters, not forks: a fork would copy this process's threads' locks and its GPU's state.
They are started directly and not by `multiprocessing`, whose resource tracker outlives the pool.
"""

import json
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from gem.errors import ConfigError
from gem.vector import worker_main
from gem.vector.backend import EnvSet
from gem.vector.call_status import CallStatus, EnvCall
from gem.vector.framing import Frames, frame
from gem.vector.messages import SeedStream
from gem.vector.recovery import RemoteBackend, WorkerHandle, WorkerLost, pickled
from gem.vector.worker import Batch, WorkerInit
from gem.vector.worker_main import WorkerStart

GRACE = 1.0
"""Seconds that `close` leaves the workers to close their envs."""

_MOST_BYTES = 1 << 20
_READ_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from gem.vector.worker_main import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)


class ProcessWorkerHandle(WorkerHandle):
    """One worker process: a socket for batches and answers, and a status of shared memory for the call under way."""

    def __init__(self, slots: Sequence[int], start: WorkerStart) -> None:
        super().__init__(slots)
        ours, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as status:
            CallStatus.prepare(status)
            self._status = CallStatus(status)
            fds = theirs.fileno(), status.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), *map(str, fds)],
                pass_fds=fds,
                stdin=subprocess.DEVNULL,
                stdout=_standard_output(),
                # A group of its own: Ctrl-C goes to the parent alone, and what the envs start ends with the worker.
                process_group=0,
            )
        ours.setblocking(False)
        self.socket = ours
        self._frames = Frames()
        self._unsent = bytearray(frame(pickle.dumps(start)))

    def send(self, batch: Batch) -> None:
        if batch:
            self._unsent += frame(pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL))
            self.flush()

    def flush(self) -> None:
        """Send what the socket takes; a worker that is busy in C code reads nothing, and must not stop its parent."""
        try:
            while self._unsent:
                del self._unsent[: self.socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # it is gone, which `receive` will find out
            self._unsent.clear()

    @property
    def unsent(self) -> bool:
        """Whether something waits for the socket to take it."""
        return bool(self._unsent)

    def receive(self) -> list[tuple[int, bytes]]:
        try:
            data = self.socket.recv(_MOST_BYTES)
        except (BlockingIOError, ConnectionResetError):  # after a reset, what had been sent can still be read
            return []
        if not data:
            raise WorkerLost(self._exit_reason())
        messages = self._frames.feed(data)
        self.ready = self.ready or bool(messages)
        return [answer for message in messages for answer in pickle.loads(message)]

    def call(self) -> EnvCall | None:
        return self._status.call()

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # macOS says the latter of a group that has ended
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Ask it to close its envs and end."""
        self._unsent += frame(pickle.dumps(None))
        self.flush()

    def wait_until(self, deadline: float) -> None:
        """Give it until then to end by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, deadline - time.monotonic()))

    def close(self) -> None:
        self.kill()
        self.socket.close()
        self._status.close()

    def _exit_reason(self) -> str:
        self.wait_until(time.monotonic() + GRACE)
        if self._process.returncode is None:
            self.kill()
            return "the worker process of this env has lost its connection"
        status = self._process.returncode
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        return f"the worker process of this env {how}"


class ProcessBackend(RemoteBackend[ProcessWorkerHandle]):
    """As many envs at work as there are workers, each on a core of its own; needs POSIX.

    Args:
        env_set: the envs.
        num_workers: processes; by default as many as cores that this process may use, and at most one a slot.
    """

    def __init__(self, env_set: EnvSet, num_workers: int | None) -> None:
        if sys.platform == "win32":
            raise ConfigError('backend="process" needs Linux or macOS; on Windows use "thread" or "ray"')
        if worker_main.running_main:
            raise RuntimeError(
                "a script whose own classes are made into a vector of processes is run by these processes too; put "
                "what is not a definition under: if __name__ == '__main__':"
            )
        self._makers = [pickled(f"what makes the env of slot {slot}", m) for slot, m in enumerate(env_set.makers)]
        self._main = _script() if any(b"__main__" in maker for maker in self._makers) else None
        self._info_methods = env_set.info_methods
        self._selector = selectors.DefaultSelector()
        self._closed = False
        super().__init__(
            env_set.seed_streams, num_workers or min(len(env_set.makers), usable_cores()), env_set.step_timeout
        )

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for worker in self._workers:
            worker.end()
        until = time.monotonic() + GRACE
        try:
            for worker in self._workers:
                worker.wait_until(until)
        finally:  # a second Ctrl-C cuts the grace short, and leaves nobody behind
            for worker in self._workers:
                worker.close()
            self._selector.close()

    def _start(self, streams: Mapping[int, SeedStream]) -> ProcessWorkerHandle:
        makers = {slot: self._makers[slot] for slot in streams}
        worker = ProcessWorkerHandle(
            list(streams), WorkerStart(WorkerInit(makers, streams, self._info_methods), self._main)
        )
        worker.flush()
        self._selector.register(worker.socket, selectors.EVENT_READ, worker)
        return worker

    def _wait(self, timeout: float | None) -> Sequence[ProcessWorkerHandle]:
        for worker in self._workers:
            self._selector.modify(worker.socket, _READ_WRITE if worker.unsent else selectors.EVENT_READ, worker)
        ready: list[ProcessWorkerHandle] = []
        for key, events in self._selector.select(timeout):
            if events & selectors.EVENT_WRITE:
                key.data.flush()
            if events & selectors.EVENT_READ:
                ready.append(key.data)
        return ready

    def _discard(self, worker: ProcessWorkerHandle) -> None:
        self._selector.unregister(worker.socket)
        worker.close()


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _standard_output() -> int | None:
    """Where the envs' prints go: to whatever `sys.stdout` is now, if that is a file."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError):
        return None


def _script() -> str | None:
    """The file of the script that is running; None in a notebook or a console."""
    return getattr(sys.modules["__main__"], "__file__", None)
