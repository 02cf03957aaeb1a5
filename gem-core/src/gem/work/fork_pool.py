"""A pool of processes that carry out tasks until a deadline, and are killed and replaced when they miss it."""

import json
import os
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from gem.errors import Fault
from gem.work.channel import Channel, Ended, frame
from gem.work.fork_server import FORK
from gem.work.lifetime import after_fork, at_exit
from gem.work.process import WorkerProcess

START = 120.0
"""Seconds for starting: importing sympy takes one, on a busy machine many."""
OVERLOADED = 30
"""The factor on the deadline of a worker that gets hardly any processor time, because the machine is busy."""
_SHARE = 0.9
"""The part of its deadline for which a worker must have had a processor; its clock is exact to 0.01 s."""
_ORPHANED = 5.0
"""Seconds beyond the longest that somebody waits for it after which the kernel ends a worker that nobody has killed."""


class LimitExceeded(Exception):
    """A task took more processor time than its deadline allows, or more memory than its program does."""

    def __init__(self, limit: str, told: list[Any]) -> None:
        super().__init__(limit)
        self.limit, self.told = limit, told
        """`"time"` or `"memory"`; what the worker had told of its task."""


class WorkersFailed(Fault):
    """The processes of a pool do not start, or the machine is too busy for them."""


class WorkerLost(WorkersFailed):
    """Two workers ended during the same task."""


class _Server:
    """The process that forks workers."""

    def __init__(self, program: str, environment: Mapping[str, str]) -> None:
        null = subprocess.DEVNULL
        self.process = WorkerProcess(
            "gem.work.fork_server:main", program, environment=environment, stdout=null, stderr=null
        )
        self._channel = self.process.channel
        self._lock = threading.Lock()
        try:
            answer = json.loads(self._channel.receive(time.monotonic() + START))
        except (TimeoutError, Ended) as error:
            self.close()
            raise WorkersFailed(f"the process for {program} did not start: {error!r}") from error
        if "error" in answer:
            self.close()
            raise WorkersFailed(f"{program} does not work: {answer['error']}")

    def fork(self) -> "_Worker":
        """A new worker, which is ready a few milliseconds later. Raises `Ended` if this process has ended."""
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            try:
                socket.send_fds(self._channel.socket, [frame(FORK)], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise Ended from error
        return _Worker(self, Channel(ours))

    def kill(self, process: int) -> None:
        """Kill a worker."""
        with self._lock, suppress(Ended):  # if it has ended, so have its workers
            self._channel.send(b"%d" % process)

    def close(self) -> None:
        self.process.close(1.0)


class _Worker:
    """A process that carries out tasks, one at a time."""

    def __init__(self, server: _Server, channel: Channel) -> None:
        self._server = server
        self.channel = channel
        self.process: int | None = None
        self.tasks = 0

    def ask(self, task: Any, seconds: float) -> Any:
        """The answer to a task. Raises what `ForkPool.ask` does, and `Ended` if the process has ended."""
        self.tasks += 1
        if self.process is None:
            try:
                self.process = json.loads(self.channel.receive(time.monotonic() + START))["process"]
            except TimeoutError as error:
                raise Ended from error
        asked = {"task": task, "alarm": OVERLOADED * seconds + _ORPHANED}
        self.channel.send(json.dumps(asked).encode(), START)
        start = time.monotonic()
        told: list[Any] = []
        used = self._processor_seconds()
        until = start + seconds
        while True:
            try:
                message = json.loads(self.channel.receive(until))
            except TimeoutError:
                now = self._processor_seconds()
                if now is None or used is None or now - used >= _SHARE * seconds:
                    raise LimitExceeded("time", told) from None
                if time.monotonic() - start > OVERLOADED * seconds:
                    raise WorkersFailed("the machine is too busy: a worker got hardly any processor time") from None
                until = time.monotonic() + seconds / 10
                continue
            if "answer" in message:
                return message["answer"]
            if "memory" in message:
                raise LimitExceeded("memory", told)
            told.append(message["told"])

    def _processor_seconds(self) -> float | None:
        """The processor time that the process has used (Linux)."""
        try:
            fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End it, whatever it does."""
        self.channel.close()
        if self.process is not None:
            self._server.kill(self.process)


class ForkPool:
    """Forks of a process that has imported a program. They start when first needed, and end with this process.

    A forked child of this process has workers of its own.

    Args:
        program: the name of a module with the functions of `fork_server.Program`.
        workers: tasks at a time.
        tasks: after so many answers a worker is replaced, so that its memory stays small.
        environment: variables of the processes.
    """

    def __init__(self, program: str, *, workers: int, tasks: int, environment: Mapping[str, str] | None = None) -> None:
        self._program, self._workers, self._tasks = program, workers, tasks
        self._environment = environment or {}
        self._begin()
        after_fork(self._begin)
        at_exit(self.close)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._order = count()
        self._idle: queue.PriorityQueue[tuple[int, int, _Worker | None]] = queue.PriorityQueue()
        for _ in range(self._workers):
            self._put(None)

    def _put(self, worker: _Worker | None) -> None:
        # First come workers that have answered, the last one first: what they need is in their memory. A new one,
        # which may still be starting, waits until no other is idle.
        place = 2 if worker is None else 1 if not worker.tasks else 0
        self._idle.put((place, -next(self._order), worker))

    def ask(self, task: Any, seconds: float) -> Any:
        """The program's answer to a task, both of plain data.

        It waits for a worker as long as it takes; the deadline of `seconds` of processor time begins when the worker
        does.

        Raises:
            LimitExceeded: the task took too much time or memory. Its worker has been replaced.
            WorkerLost: two workers ended during the task.
            WorkersFailed: there is no worker, or the machine is too busy.
        """
        *_, worker = self._idle.get()
        try:
            for _ in range(2):
                if worker is None:
                    worker = self._fork()
                    self.start()
                try:
                    answer = worker.ask(task, seconds)
                except Ended:
                    worker = self._replaced(worker)
                    continue
                except BaseException:
                    worker = self._replaced(worker)
                    raise
                if worker.tasks >= self._tasks:
                    worker = self._replaced(worker)
                return answer
            raise WorkerLost(f"two workers of {self._program} ended during the same task")
        finally:
            self._put(worker)

    def _fork(self) -> _Worker:
        with self._lock:
            for _ in range(2):
                if self._server is None:
                    self._server = _Server(self._program, self._environment)
                try:
                    return self._server.fork()
                except Ended:
                    self._server.close()
                    self._server = None
            raise WorkersFailed(f"the process for {self._program} ended twice")

    def _replaced(self, worker: _Worker) -> _Worker | None:
        """Another worker, ready for the next task; None if there is none yet."""
        worker.kill()
        with suppress(WorkersFailed):
            return self._fork()
        return None

    def start(self) -> None:
        """Start all workers that have not been started: when one is killed, another is there for the next task."""
        idle: list[_Worker | None] = []
        try:
            with suppress(queue.Empty):
                while True:
                    idle.append(self._idle.get_nowait()[-1])
            for place, worker in enumerate(idle):
                idle[place] = worker or self._fork()
        finally:
            for worker in idle:
                self._put(worker)

    def close(self) -> None:
        """End all processes. The pool can be used again."""
        with self._lock:
            server, self._server = self._server, None
        for _ in range(self._idle.qsize()):
            with suppress(queue.Empty):
                *_, worker = self._idle.get_nowait()
                if worker is not None:
                    worker.channel.close()  # then it ends by itself
                self._put(None)
        if server is not None:
            server.close()
