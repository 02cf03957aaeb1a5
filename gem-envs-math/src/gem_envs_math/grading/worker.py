"""The processes behind `pool`: one that has imported math-verify, and its forks, which compare answers.

The first imports once, for a second, and then only forks and kills: a fork takes milliseconds, so a worker that is
stuck can be killed and replaced at once. It ends when its socket is closed, and takes all forks with it; so nothing is
left of them however the process that started it has ended.
"""

import gc
import json
import os
import resource
import select
import signal
import socket
from collections.abc import Iterator
from typing import Any

_MEMORY = 1 << 30
"""Bytes of address space of a worker."""
_ORPHANED = 5.0
"""Seconds beyond the longest that somebody waits for it after which the kernel ends a worker that nobody has killed."""
_REAPED_EVERY = 0.2


def main(number: int) -> None:
    """Fork and kill as the process at the other end of the socket `number` asks."""
    control = socket.socket(fileno=number)
    try:
        from gem_envs_math.grading import symbolic

        symbolic.warm_up()
    except BaseException as error:
        _send(control, {"error": f"{type(error).__name__}: {error}"})
        return
    gc.collect()
    gc.freeze()
    _send(control, {"ready": True})
    workers: set[int] = set()
    try:
        for descriptor, stuck in _requests(control, workers):
            if descriptor is None:
                _kill(workers, stuck)
                continue
            process = os.fork()
            if not process:
                control.close()
                _run(socket.socket(fileno=descriptor))
            os.close(descriptor)
            workers.add(process)
    except OSError:  # the other end is gone
        return
    finally:
        for process in workers:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _requests(control: socket.socket, workers: set[int]) -> Iterator[tuple[int | None, int]]:
    """The socket of a worker to fork, or None and the number of one to kill, until the other end is closed."""
    unread = b""
    descriptors: list[int] = []
    while True:
        if not select.select([control], [], [], _REAPED_EVERY)[0]:
            _reap(workers)
            continue
        data, more, _, _ = socket.recv_fds(control, 4096, 16)
        if not data:
            return
        _reap(workers)
        descriptors += more
        *lines, unread = (unread + data).split(b"\n")
        for line in lines:
            yield (descriptors.pop(0), 0) if line == b"fork" else (None, int(line))


def _reap(workers: set[int]) -> None:
    while workers:
        process, _ = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        workers.discard(process)


def _kill(workers: set[int], process: int) -> None:
    if process in workers:
        # It has not been waited for, so its number is still its own.
        os.kill(process, signal.SIGKILL)


def _run(connection: socket.socket) -> None:
    """A worker: answer until the socket is closed."""
    from gem_envs_math.grading import symbolic

    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        symbolic.stretch()
        _send(connection, {"process": os.getpid()})
        _serve(connection)
        status = 0
    finally:
        os._exit(status)


def _serve(connection: socket.socket) -> None:
    for task in _messages(connection):
        # An alarm that nobody handles ends the process, whatever it does.
        signal.setitimer(signal.ITIMER_REAL, task["patience"] + _ORPHANED)
        try:
            verdict = _verdict(connection, task)
        except MemoryError:
            _send(connection, {"right": False, "rule": "memory"})
            return
        except RecursionError:
            verdict = {"right": False, "rule": "too long"}
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(connection, verdict)


def _verdict(connection: socket.socket, task: dict[str, Any]) -> dict[str, Any]:
    from gem_envs_math.grading import symbolic

    gold = symbolic.parse(task["gold"])
    if gold is None:
        return {"right": False, "rule": "text"}
    # What comes now takes as long as the answer makes it.
    _send(connection, {"gold": True})
    answer = symbolic.parse(task["answer"])
    if answer is None:
        return {"right": False, "rule": "unreadable"}
    return {"right": symbolic.same(gold, answer, task["tolerance"]), "rule": "math-verify"}


def _messages(connection: socket.socket) -> Iterator[Any]:
    with connection.makefile("rb") as lines:
        for line in lines:
            yield json.loads(line)


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")
