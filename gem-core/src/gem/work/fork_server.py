"""The processes behind `ForkPool`: one that has imported a program, and its forks, which carry out tasks.

The first imports once, which may take a second, and then only forks and kills: a fork takes milliseconds, so a worker
that is stuck can be killed and replaced at once. It ends when its socket is closed, and takes all forks with it; so
nothing is left of them however the process that started it has ended.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from gem.work.channel import Channel, Ended, Frames

FORK = b"fork"
_REAPED_EVERY = 0.2


class Program(Protocol):
    """The functions of a module whose forks are workers."""

    def warm_up(self) -> None:
        """Load whatever the forks are to share."""
        ...

    def begin(self) -> None:
        """Prepare a worker, such as by limits."""
        ...

    def answer(self, task: Any, tell: Callable[[Any], None]) -> Any:
        """Carry out a task, of plain data; `tell` says how far it is. A `MemoryError` may be raised."""
        ...


def main(number: int, module: str) -> None:
    """Fork and kill as the process at the other end of the socket `number` asks."""
    control = Channel(socket.socket(fileno=number))
    try:
        program: Any = importlib.import_module(module)
        program.warm_up()
    except BaseException as error:
        _send(control, {"error": f"{type(error).__name__}: {error}"})
        return
    gc.collect()
    gc.freeze()
    _send(control, {"ready": True})
    workers: set[int] = set()
    try:
        for descriptor, stuck in _requests(control.socket, workers):
            if descriptor is None:
                if stuck in workers:  # it has not been waited for, so its number is still its own
                    os.kill(stuck, signal.SIGKILL)
                continue
            process = os.fork()
            if not process:
                _run(program, Channel(socket.socket(fileno=descriptor)))
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
    frames = Frames()
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
        for request in frames.feed(data):
            yield (descriptors.pop(0), 0) if request == FORK else (None, int(request))


def _reap(workers: set[int]) -> None:
    while workers:
        process, _ = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        workers.discard(process)


def _run(program: Program, channel: Channel) -> None:
    """A worker: answer until the socket is closed."""
    status = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        program.begin()
        _send(channel, {"process": os.getpid()})
        _serve(program, channel)
        status = 0
    finally:
        os._exit(status)


def _serve(program: Program, channel: Channel) -> None:
    while True:
        try:
            asked = json.loads(channel.receive())
        except Ended:
            return
        # An alarm that nobody handles ends the process, whatever it does, even if nobody is left to kill it.
        signal.setitimer(signal.ITIMER_REAL, asked["alarm"])
        try:
            answer = program.answer(asked["task"], lambda mark: _send(channel, {"told": mark}))
        except MemoryError:
            _send(channel, {"memory": True})
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(channel, {"answer": answer})


def _send(channel: Channel, message: Any) -> None:
    channel.send(json.dumps(message).encode())
