"""Envs in worker processes on this machine."""

import math
import os
import pickle
import select
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future

from gem.errors import ConfigError
from gem.vector.backend import GRACE, EnvSet
from gem.vector.call_status import CallStatus, EnvCall
from gem.vector.recovery import RemoteBackend, WorkerHandle, WorkerLost
from gem.vector.worker import Batch, WorkerInit
from gem.work import script
from gem.work.channel import Ended, frame
from gem.work.permit_channel import serve_permits
from gem.work.process import WorkerProcess


class ProcessWorkerHandle(WorkerHandle):
    """One worker process: a socket for batches and answers, and shared memory for the running call."""

    def __init__(self, init: WorkerInit) -> None:
        super().__init__(list(init.makers))
        self._permits, theirs = socket.socketpair()
        self._served: Future[None] | None = None
        with tempfile.TemporaryFile() as status, theirs:
            self._status = CallStatus(status.fileno())
            files = [status.fileno(), theirs.fileno()]
            self._process = WorkerProcess("gem.vector.worker_main:main", files=files, stdout=_standard_output())
        self.socket = self._process.channel.socket
        self.socket.setblocking(False)
        self.unsent = bytearray(frame(script.with_script(pickle.dumps(init))))
        """Data that the socket has not accepted yet."""
        self.flush()

    def send(self, batch: Batch) -> None:
        if batch:
            self.unsent += frame(pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL))
            self.flush()

    def flush(self) -> None:
        """Send what the socket accepts without blocking: a worker that runs C code reads nothing."""
        try:
            while self.unsent:
                del self.unsent[: self.socket.send(self.unsent)]
        except BlockingIOError:
            pass
        except OSError:  # the worker has died, which `receive` will report
            self.unsent.clear()

    def receive(self) -> list[tuple[int, bytes]]:
        try:
            messages = self._process.channel.receive_ready()
        except Ended:
            raise WorkerLost(f"the worker process of this env {self._process.how_it_ended()}") from None
        self.ready = self.ready or bool(messages)
        return [answer for message in messages for answer in pickle.loads(message)]

    def share_capacities(self) -> None:
        """Give it permits of this process, of which it asks for none before it has an episode."""
        self._served = self._served or serve_permits(self._permits)

    def call(self) -> EnvCall | None:
        return self._status.call()

    def is_stopped(self) -> bool:
        return self._process.is_stopped()

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Ask it to close its envs and end."""
        self.unsent += frame(pickle.dumps(None))
        self.flush()

    def wait_until(self, deadline: float) -> None:
        """Wait for its end until then."""
        self._process.wait_until(deadline)

    def close(self) -> None:
        self._process.close()
        self._status.close()
        if self._served is None:
            self._permits.close()
        else:
            self._served.cancel()


class ProcessBackend(RemoteBackend[ProcessWorkerHandle]):
    """Runs envs in parallel, one per worker at a time. Needs POSIX.

    Args:
        env_set: the envs.
        num_workers: processes; by default one per usable core.
    """

    def __init__(self, env_set: EnvSet, num_workers: int | None) -> None:
        if sys.platform == "win32":
            raise ConfigError('backend="process" needs Linux or macOS; on Windows use "thread" or "ray"')
        if script.running:
            raise RuntimeError(
                "worker processes import the script that defines their env; put what is not a definition under: "
                "if __name__ == '__main__':"
            )
        self._shares = False
        super().__init__(env_set, self._started, num_workers, usable_cores())

    def _started(self, init: WorkerInit) -> ProcessWorkerHandle:
        worker = ProcessWorkerHandle(init)
        if self._shares:
            worker.share_capacities()
        return worker

    def share_capacities(self) -> None:
        self._shares = True
        for worker in self._workers:
            worker.share_capacities()

    def close(self) -> None:
        for worker in self._workers:
            worker.end()
        until = time.monotonic() + GRACE
        try:
            for worker in self._workers:
                worker.wait_until(until)
        finally:  # even if a second Ctrl-C ends the waiting
            for worker in self._workers:
                worker.close()

    def _wait(self, timeout: float | None) -> Sequence[ProcessWorkerHandle]:
        poll, workers = select.poll(), {worker.socket.fileno(): worker for worker in self._workers}
        for number, worker in workers.items():
            poll.register(number, select.POLLIN | select.POLLOUT if worker.unsent else select.POLLIN)
        ready: list[ProcessWorkerHandle] = []
        for number, events in poll.poll(None if timeout is None else math.ceil(timeout * 1000)):
            if events & select.POLLOUT:
                workers[number].flush()
            if events != select.POLLOUT:  # also if the worker has died
                ready.append(workers[number])
        return ready


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _standard_output() -> int | None:
    """The file of `sys.stdout`, for the output of the envs."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError):
        return None
