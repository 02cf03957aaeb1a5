"""A pool of processes, one for this process, in which math-verify compares answers until a deadline."""

import atexit
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from gem_envs_math.grading.errors import GraderFailed

WORKERS = 2
START = 120.0
"""Seconds for starting: importing sympy takes one, on a busy machine many."""
_TASKS = 500
"""After so many answers a worker is replaced, so that its memory stays small."""
_OVERLOADED = 10
"""If the machine is so busy that a worker gets hardly any processor time, it may have so many times its deadline."""
_SHARE = 0.1
"""The part of its deadline for which a worker must have had a processor. Right answers need some 0.03 s."""
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from gem_envs_math.grading.worker import main; main(int(sys.argv[2]))"
)


class _Died(Exception):
    """The process at the other end has ended."""


class _Channel:
    """One end of a socket, for messages of a line each."""

    def __init__(self, ours: socket.socket) -> None:
        self.socket = ours
        self._unread = b""

    def send(self, message: dict[str, Any]) -> None:
        try:
            self.socket.settimeout(START)
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise _Died from error

    def receive(self, until: float) -> dict[str, Any]:
        """The next message.

        Raises:
            TimeoutError: there is none at that time, by `time.monotonic`.
            _Died: there will never be one.
        """
        while b"\n" not in self._unread:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                raise
            except OSError as error:
                raise _Died from error
            if not data:
                raise _Died
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        self.socket.close()


class _Forker:
    """The process that forks workers."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Ctrl-C goes to this process alone.
                process_group=0,
            )
        self._channel = _Channel(ours)
        self._lock = threading.Lock()
        try:
            answer = self._channel.receive(time.monotonic() + START)
        except (TimeoutError, _Died) as error:
            self.close()
            raise GraderFailed(f"the process for math-verify did not start: {error!r}") from error
        if "error" in answer:
            self.close()
            raise GraderFailed(f"math-verify does not work: {answer['error']}")

    def fork(self) -> "_Worker":
        """A new worker, which is ready a few milliseconds later.

        Raises:
            _Died: this process has ended.
        """
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            try:
                socket.send_fds(self._channel.socket, [b"fork\n"], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise _Died from error
        return _Worker(self, _Channel(ours))

    def kill(self, process: int) -> None:
        """Kill a worker."""
        with self._lock, suppress(OSError):  # if it has ended, so have its workers
            self._channel.socket.sendall(b"%d\n" % process)

    def close(self) -> None:
        self._channel.close()
        try:
            self._process.wait(1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """After a fork: it belongs to the other process."""
        self._channel.close()
        self._process.returncode = 0  # so that nobody waits for it or warns


class _Worker:
    """A process that compares answers, one at a time."""

    def __init__(self, forker: _Forker, channel: _Channel) -> None:
        self._forker = forker
        self.channel = channel
        self._process: int | None = None
        self.tasks = 0

    def ask(self, task: dict[str, Any]) -> tuple[bool, str]:
        """The verdict on a task, and by which rule: `deadline` if it took too long.

        Raises:
            _Died: the process has ended.
            GraderFailed: the gold takes too long, or the machine is too busy to tell.
        """
        seconds: float = task["seconds"]
        self.tasks += 1
        if self._process is None:
            try:
                self._process = self.channel.receive(time.monotonic() + START)["process"]
            except TimeoutError as error:
                raise _Died from error
        self.channel.send(task)
        start = time.monotonic()
        gold_is_read = False
        used = self._processor_seconds()
        until = start + seconds
        while True:
            try:
                message = self.channel.receive(until)
            except TimeoutError:
                now = self._processor_seconds()
                if now is None or used is None or now - used >= _SHARE * seconds:
                    if not gold_is_read:
                        raise GraderFailed(f"math-verify did not read the gold in {seconds:g} s") from None
                    return False, "deadline"
                if time.monotonic() - start > _OVERLOADED * seconds:
                    raise GraderFailed("the machine is too busy: math-verify got hardly any processor time") from None
                until = time.monotonic() + seconds / 10
                continue
            if "right" in message:
                return message["right"], message["rule"]
            gold_is_read = True

    def _processor_seconds(self) -> float | None:
        """The processor time that the process has used (Linux)."""
        try:
            fields = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End it, whatever it does."""
        self.channel.close()
        if self._process is not None:
            self._forker.kill(self._process)


class Pool:
    """Processes with math-verify. They start when they are first needed, and end with this process.

    Args:
        workers: how many answers are compared at a time.
    """

    def __init__(self, workers: int = WORKERS) -> None:
        self._lock = threading.Lock()
        self._forker: _Forker | None = None
        self._order = count()
        self._idle: queue.PriorityQueue[tuple[int, int, _Worker | None]] = queue.PriorityQueue()
        for _ in range(workers):
            self._put(None)

    def _put(self, worker: _Worker | None) -> None:
        # First come workers that have answered, the last one first: what they need is in their memory. A new one,
        # which may still be starting, waits until no other is idle.
        place = 2 if worker is None else 1 if not worker.tasks else 0
        self._idle.put((place, -next(self._order), worker))

    def compare(self, answer: str, gold: str, *, tolerance: float, seconds: float) -> tuple[bool, str]:
        """Whether math-verify finds `answer` equal to `gold`, and the rule: `math-verify`, or why there is no verdict
        of its (`deadline`, `memory`, `unreadable`).

        It waits for a worker as long as it takes; the deadline of `seconds` begins when the worker does.

        Raises:
            GraderFailed: the workers die, or do not start.
        """
        task = {"answer": answer, "gold": gold, "tolerance": tolerance, "seconds": seconds}
        task["patience"] = _OVERLOADED * seconds
        *_, worker = self._idle.get()
        try:
            for _ in range(2):
                if worker is None:
                    worker = self._fork()
                    self.start()
                try:
                    verdict = worker.ask(task)
                except _Died:
                    worker = self._replaced(worker)
                    continue
                except BaseException:
                    worker = self._replaced(worker)
                    raise
                if verdict[1] in ("deadline", "memory") or worker.tasks >= _TASKS:
                    worker = self._replaced(worker)
                return verdict
            raise GraderFailed("the process with math-verify ended twice on the same answer")
        finally:
            self._put(worker)

    def _fork(self) -> _Worker:
        with self._lock:
            for _ in range(2):
                if self._forker is None:
                    self._forker = _Forker()
                try:
                    return self._forker.fork()
                except _Died:
                    self._forker.close()
                    self._forker = None
            raise GraderFailed("the process for math-verify ended twice")

    def _replaced(self, worker: _Worker) -> _Worker | None:
        """Another worker, ready for the next answer; None if there is none yet."""
        worker.kill()
        with suppress(GraderFailed):
            return self._fork()
        return None

    def start(self) -> None:
        """Start all processes that have not been started: when one is killed, another is there for the next answer."""
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
            forker, self._forker = self._forker, None
        for _ in range(self._idle.qsize()):
            with suppress(queue.Empty):
                *_, worker = self._idle.get_nowait()
                if worker is not None:
                    worker.channel.close()  # then it ends by itself
                self._put(None)
        if forker is not None:
            forker.close()

    def forget(self) -> None:
        """After a fork: the processes belong to the other process."""
        if self._forker is not None:
            self._forker.forget()
        # Another thread may have held the lock of the queue when this process was forked.
        for *_, worker in list(self._idle.queue):
            if worker is not None:
                worker.channel.close()


_pools: list[Pool] = []


def shared() -> Pool:
    """The pool of this process."""
    # Two threads may each append one: all take the first, and the other never starts anything.
    if not _pools:
        _pools.append(Pool())
    return _pools[0]


def _close() -> None:
    for pool in _pools:
        pool.close()


def _forget() -> None:
    pools = _pools.copy()
    _pools.clear()
    for pool in pools:
        pool.forget()


atexit.register(_close)
os.register_at_fork(after_in_child=_forget)
