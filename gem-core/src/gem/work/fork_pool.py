"""A pool of processes that carry out tasks until a deadline, at which the kernel ends them, and are then replaced."""

import json
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from gem.errors import Fault
from gem.work.channel import Channel, Ended
from gem.work.lifetime import after_fork, at_exit
from gem.work.process import WorkerProcess

START = 120.0
"""Seconds for starting: importing sympy takes one, on a busy machine many."""
OVERLOADED = 100
"""The factor on the deadline, by the clock: a worker that has got less than this share of a processor until then is a
fault of the machine. One beside 30 busy processes on one core gets a 31st."""
_GRACE = 1.0
"""Seconds that the server has to end."""


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


class _Worker:
    """A process that carries out tasks, one at a time."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.tasks = 0

    def ask(self, task: Any, seconds: float) -> Any:
        """The answer to a task. Raises what `ForkPool.ask` does, and `Ended` if the process has ended."""
        self.tasks += 1
        longest = OVERLOADED * seconds
        self.channel.send(json.dumps({"task": task, "processor": seconds, "longest": longest}).encode(), START)
        until = time.monotonic() + START + longest
        told: list[Any] = []
        while True:
            try:
                message = json.loads(self.channel.receive(until))
            except TimeoutError:
                raise WorkersFailed("a worker does not even end at its deadline") from None
            match message:
                case {"answer": answer}:
                    return answer
                case {"told": mark}:
                    told.append(mark)
                case {"memory": _}:
                    raise LimitExceeded("memory", told)
                case {"ended": status} if status == -signal.SIGPROF:
                    raise LimitExceeded("time", told)
                case {"ended": status} if status == -signal.SIGALRM:
                    raise WorkersFailed("the machine is too busy: a worker got hardly any processor time")
                case _:
                    raise Ended


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
        self._server: WorkerProcess | None = None
        # The last one that has answered is the next that is asked: what it needs is in its memory.
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(self._workers):
            self._idle.put(None)

    def ask(self, task: Any, seconds: float) -> Any:
        """The program's answer to a task, both of plain data.

        It waits for a worker as long as it takes; the deadline of `seconds` of processor time begins when the worker
        does, and again whenever it tells how far it is.

        Raises:
            LimitExceeded: the task took too much time or memory. Its worker has been replaced.
            WorkerLost: two workers ended during the task.
            WorkersFailed: there is no worker, or the machine is too busy.
        """
        worker = self._idle.get()
        try:
            for _ in range(2):
                if worker is None:
                    worker = self._fork()
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
            self._idle.put(worker)

    def _fork(self) -> _Worker:
        """A new worker, which is ready a few milliseconds later."""
        with self._lock:
            for _ in range(2):
                server = self._server = self._server or self._start_server()
                ours, theirs = socket.socketpair()
                with theirs:
                    try:
                        socket.send_fds(server.channel.socket, [b"\0"], [theirs.fileno()])
                        return _Worker(Channel(ours))
                    except OSError:  # the server has ended
                        ours.close()
                        server.close(_GRACE)
                        self._server = None
            raise WorkersFailed(f"the process for {self._program} ended twice")

    def _start_server(self) -> WorkerProcess:
        null = subprocess.DEVNULL
        main, environment = "gem.work.fork_server:main", self._environment
        server = WorkerProcess(main, self._program, environment=environment, stdout=null, stderr=null)
        try:
            answer = json.loads(server.channel.receive(time.monotonic() + START))
        except (TimeoutError, Ended) as error:
            server.close(_GRACE)
            raise WorkersFailed(f"the process for {self._program} did not start: {error!r}") from error
        if "error" in answer:
            server.close(_GRACE)
            raise WorkersFailed(f"{self._program} does not work: {answer['error']}")
        return server

    def _replaced(self, worker: _Worker) -> _Worker | None:
        """Another worker, ready for the next task; None if there is none yet."""
        worker.channel.close()  # then it ends by itself, at the latest at its deadline
        with suppress(WorkersFailed):
            return self._fork()
        return None

    def close(self) -> None:
        """End all processes. The pool can be used again."""
        with self._lock:
            server, self._server = self._server, None
        ended = 0
        with suppress(queue.Empty):
            while True:
                worker = self._idle.get_nowait()
                ended += 1
                if worker is not None:
                    worker.channel.close()
        for _ in range(ended):
            self._idle.put(None)
        if server is not None:
            server.close(_GRACE)
