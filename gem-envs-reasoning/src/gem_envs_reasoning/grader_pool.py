"""Processes that grade integrals: a few for all envs of a process, started when needed and kept until it ends.

Starting one takes half a second, most of it for sympy. A fork of this process would copy the locks of its threads, so
each is a fresh interpreter.
"""

import atexit
import json
import os
import subprocess
import sys
import threading

from gem.errors import Fault

RIGHT, WRONG = b"1", b"0"
"""What a grader process answers."""
MOST_PROCESSES = min(4, os.cpu_count() or 1)

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from gem_envs_reasoning.antiderivative import serve; serve()"
)


class GraderLost(Fault, RuntimeError):
    """A grader process ended twice without an answer."""


class _GraderProcess:
    """One process: it reads a request per line and answers each with a byte."""

    def __init__(self) -> None:
        # The order of sympy's sets, and so what it can simplify, is the same in every process.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )

    def ask(self, request: bytes) -> bytes:
        """The answer; empty if the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
        except BrokenPipeError:
            return b""
        return self._process.stdout.read(1)

    def release(self) -> None:
        """Close this process's ends of the pipes; the grader ends when no process has them open."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self.release()


class GraderPool:
    """Up to `most` processes, each started when it is first needed and kept for the next answer."""

    def __init__(self, most: int = MOST_PROCESSES) -> None:
        self._free = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_GraderProcess] = []
        self._busy: set[_GraderProcess] = set()

    def is_antiderivative(self, answer: str, integrand: str, variable: str) -> bool:
        """`antiderivative.is_antiderivative` in a grader process; False for an answer that takes it too long.

        Raises:
            GraderLost: two processes ended without an answer, the second a new one.
        """
        request = json.dumps((answer, integrand, variable)).encode() + b"\n"
        with self._free:
            verdict = self._ask(request) or self._ask(request, _GraderProcess())
        if verdict:
            return verdict == RIGHT
        raise GraderLost("a grader process ended twice without an answer: is there enough memory?")

    def _ask(self, request: bytes, grader: _GraderProcess | None = None) -> bytes:
        with self._lock:
            if grader is None:
                grader = self._idle.pop() if self._idle else _GraderProcess()
            self._busy.add(grader)
        verdict = b""
        try:
            verdict = grader.ask(request)
            return verdict
        finally:
            with self._lock:
                self._busy.discard(grader)
                if verdict:
                    self._idle.append(grader)
            if not verdict:
                grader.stop()

    def stop(self) -> None:
        """End all processes, the busy ones too."""
        for grader in (*self._idle, *self._busy):
            grader.stop()

    def release(self) -> None:
        """In a fork of the process that they belong to: close what it copied."""
        for grader in (*self._idle, *self._busy):
            grader.release()


_pool = GraderPool()


def is_antiderivative(answer: str, integrand: str, variable: str) -> bool:
    """`GraderPool.is_antiderivative`, of the pool of this process."""
    return _pool.is_antiderivative(answer, integrand, variable)


def _stop() -> None:
    _pool.stop()


def _after_fork() -> None:
    global _pool
    inherited, _pool = _pool, GraderPool()
    inherited.release()
    _inherited.append(inherited)


_inherited: list[GraderPool] = []
"""Kept: subprocess warns when the object of a running process is collected."""

atexit.register(_stop)
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_after_fork)
