"""Envs in worker processes on this machine.

The workers are new interpreters: a fork would copy locks of threads and the state of a GPU. They are not started by
`multiprocessing`, because its resource tracker outlives them.
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
"""Seconds that `close` waits for the workers to close their envs."""

_MOST_BYTES = 1 << 20
_READ_WRITE = selectors.EVENT_READ | selectors.EVENT_WRITE
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from gem.vector.worker_main import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)


class ProcessWorkerHandle(WorkerHandle):
    """One worker process: a socket for batches and answers, and shared memory for the running call."""

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
                # A process group: Ctrl-C goes to the parent alone, and processes of the envs end with the worker.
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
        """Send what the socket accepts without blocking: a worker that runs C code reads nothing."""
        try:
            while self._unsent:
                del self._unsent[: self.socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the worker has died, which `receive` will report
            self._unsent.clear()

    @property
    def unsent(self) -> bool:
        """Whether there is data that the socket has not accepted yet."""
        return bool(self._unsent)

    def receive(self) -> list[tuple[int, bytes]]:
        try:
            data = self.socket.recv(_MOST_BYTES)
        except (BlockingIOError, ConnectionResetError):  # after a reset, earlier data can still be read
            return []
        if not data:
            raise WorkerLost(self._exit_reason())
        messages = self._frames.feed(data)
        self.ready = self.ready or bool(messages)
        return [answer for message in messages for answer in pickle.loads(message)]

    def call(self) -> EnvCall | None:
        return self._status.call()

    def kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # on macOS the latter, if the group has ended
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Ask it to close its envs and end."""
        self._unsent += frame(pickle.dumps(None))
        self.flush()

    def wait_until(self, deadline: float) -> None:
        """Wait for its end until then."""
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
            return "the worker process of this env has closed its connection"
        status = self._process.returncode
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"exited with status {status}"
        return f"the worker process of this env {how}"


class ProcessBackend(RemoteBackend[ProcessWorkerHandle]):
    """Runs envs in parallel, one per worker at a time. Needs POSIX.

    Args:
        env_set: the envs.
        num_workers: processes; by default one per usable core, and at most one per slot.
    """

    def __init__(self, env_set: EnvSet, num_workers: int | None) -> None:
        if sys.platform == "win32":
            raise ConfigError('backend="process" needs Linux or macOS; on Windows use "thread" or "ray"')
        if worker_main.running_main:
            raise RuntimeError(
                "worker processes import the script that defines their env; put what is not a definition under: "
                "if __name__ == '__main__':"
            )
        self._makers = [pickled(f"the maker of slot {slot}", m) for slot, m in enumerate(env_set.makers)]
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
        finally:  # even if a second Ctrl-C ends the waiting
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
    """The file of `sys.stdout`, for the output of the envs."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError):
        return None


def _script() -> str | None:
    """The file of the running script; None in a notebook or a console."""
    return getattr(sys.modules["__main__"], "__file__", None)
