"""The processes behind `ForkPool`: one that has imported a program, and its forks, which carry out tasks.

The first imports once, which may take a second. Then it only forks, which takes milliseconds, and tells how its forks
have ended: the kernel ends one that is stuck. It ends when its socket is closed, and takes all forks with it, so that
nothing is left of them however the process that started it has ended.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from gem.work.channel import Channel, Ended


class Program(Protocol):
    """The functions of a module whose forks are workers."""

    def warm_up(self) -> None:
        """Load whatever the forks are to share."""
        ...

    def begin(self) -> None:
        """Prepare a worker, such as by limits."""
        ...

    def answer(self, task: Any, tell: Callable[[Any], None]) -> Any:
        """Carry out a task, of plain data; `tell` says how far it is, and what comes then has all of the deadline. A
        `MemoryError` may be raised."""
        ...


def main(number: int, module: str) -> None:
    """Fork for each socket that comes from the other end of the socket `number`, until that is closed."""
    control = Channel(socket.socket(fileno=number))
    try:
        program: Any = importlib.import_module(module)
        program.warm_up()
    except BaseException as error:
        _send(control, {"error": f"{type(error).__name__}: {error}"})
        return
    gc.collect()
    gc.freeze()
    ended, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)  # which wakes `select` by the next line
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    _send(control, {"ready": True})
    workers: dict[int, Channel] = {}
    try:
        while True:
            readable, _, _ = select.select([control.socket, ended], [], [])
            if ended in readable:
                ended.recv(4096)
                _bury(workers)
            if control.socket in readable:
                asked, descriptors, _, _ = socket.recv_fds(control.socket, 1, 1)
                if not asked:
                    return
                process = os.fork()
                channel = Channel(socket.socket(fileno=descriptors[0]))  # the worker's, and a copy here to tell its end
                if not process:
                    _run(program, channel)
                workers[process] = channel
    except OSError:  # the other end is gone
        return
    finally:
        for process in workers:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _bury(workers: dict[int, Channel]) -> None:
    """Tell of each worker that has ended how it did, through its own socket."""
    while workers:
        process, status = os.waitpid(-1, os.WNOHANG)
        if not process:
            return
        channel = workers.pop(process)
        with suppress(Ended):
            _send(channel, {"ended": os.waitstatus_to_exitcode(status)})
        channel.close()


def _run(program: Program, channel: Channel) -> None:
    """A worker: answer until the socket is closed."""
    status = 1
    try:
        for deadly in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(deadly, signal.SIG_DFL)
        program.begin()
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
        # A signal that nobody handles ends the process, whatever it does.
        signal.setitimer(signal.ITIMER_PROF, asked["processor"])
        signal.setitimer(signal.ITIMER_REAL, asked["longest"])
        try:
            answer = program.answer(asked["task"], partial(_tell, channel, asked["processor"]))
        except MemoryError:
            _send(channel, {"memory": True})
            return
        finally:
            for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
                signal.setitimer(timer, 0)
        _send(channel, {"answer": answer})


def _tell(channel: Channel, processor: float, mark: Any) -> None:
    """Tell how far a task is. The time until now, which an earlier task may have saved, counts no more."""
    signal.setitimer(signal.ITIMER_PROF, processor)
    _send(channel, {"told": mark})


def _send(channel: Channel, message: Any) -> None:
    channel.send(json.dumps(message).encode())
