"""Grader processes: a few for all envs of a process, while an env that has used them is open.

A fork of this process would copy the locks of its threads, so each grader is a fresh interpreter.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

RIGHT, WRONG = b"1", b"0"
"""What a grader process answers."""
MOST = min(4, os.cpu_count() or 1)

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from gem_envs_reasoning.antiderivative import serve; serve()"
)


class GraderLost(RuntimeError):
    """A grader process ended twice without an answer."""


class _Grader:
    """One process: a request per line, and a byte for each."""

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
        """The answer, or nothing where the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(request)
        except BrokenPipeError:
            return b""
        return self._process.stdout.read(1)

    def release(self) -> None:
        """Close this process's ends of the pipes; the grader ends when nobody has them open."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self.release()


class Graders:
    """Up to `most` processes, each started when it is first needed and kept for the next answer."""

    def __init__(self, most: int = MOST) -> None:
        self._free = threading.Semaphore(most)
        self._lock = threading.Lock()
        self._idle: list[_Grader] = []
        self._busy: set[_Grader] = set()
        self._users: weakref.WeakSet[Any] = weakref.WeakSet()

    def is_right(self, user: Any, *request: str) -> bool:
        """What a grader says to a request; an answer that takes it too long is not right.

        Args:
            user: an env, which keeps the processes until it calls `leave`.
            request: texts, as `antiderivative.is_antiderivative` takes them.

        Raises:
            GraderLost: two processes ended without an answer, the second a new one.
        """
        line = json.dumps(request).encode() + b"\n"
        with self._free:
            answer = self._asked(user, line) or self._asked(user, line, _Grader())
        if answer:
            return answer == RIGHT
        raise GraderLost("a grader process ended twice without an answer: is there enough memory?")

    def _asked(self, user: Any, line: bytes, grader: _Grader | None = None) -> bytes:
        with self._lock:
            self._users.add(user)
            if grader is None:
                grader = self._idle.pop() if self._idle else _Grader()
            self._busy.add(grader)
        answer = b""
        try:
            answer = grader.ask(line)
            return answer
        finally:
            with self._lock:
                self._busy.discard(grader)
                keep = bool(answer) and bool(self._users)
                if keep:
                    self._idle.append(grader)
            if not keep:
                grader.stop()

    def leave(self, user: Any) -> None:
        """Note that an env is closed. With the last one the processes end."""
        with self._lock:
            self._users.discard(user)
            over = [] if self._users else self._idle[:]
            if over:
                self._idle.clear()
        for grader in over:
            grader.stop()

    def stop(self) -> None:
        """End all processes, whoever uses them."""
        for grader in (*self._idle, *self._busy):
            grader.stop()

    def release(self) -> None:
        """In a fork of the process that they belong to: close what it copied."""
        for grader in (*self._idle, *self._busy):
            grader.release()


_graders = Graders()


def is_right(user: Any, *request: str) -> bool:
    """`Graders.is_right`, of the graders of this process."""
    return _graders.is_right(user, *request)


def leave(user: Any) -> None:
    """`Graders.leave`, of the graders of this process."""
    _graders.leave(user)


def _stop() -> None:
    _graders.stop()


def _after_fork() -> None:
    global _graders
    inherited, _graders = _graders, Graders()
    inherited.release()
    _inherited.append(inherited)


_inherited: list[Graders] = []
"""Kept, because what is collected while it runs warns."""

atexit.register(_stop)
if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_after_fork)
