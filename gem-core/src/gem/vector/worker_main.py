"""The program of a worker process.

The envs run in the main thread, where they may use signals. A reader takes batches from the parent and a writer
sends answers back, so that a finished answer never waits for a slow env. When the parent is gone, in whatever way,
the process ends at once, and with it whatever its envs have started in its process group.
"""

import os
import pickle
import runpy
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from typing import NamedTuple

from gem.vector.call_status import CallStatus
from gem.vector.framing import LENGTH_BYTES, frame, length
from gem.vector.worker import Worker, WorkerInit

running_main = False
"""Whether this is a worker that is running its parent's script to find the classes in it."""


class WorkerStart(NamedTuple):
    """The first message to a worker process."""

    init: WorkerInit
    main: str | None
    """The script whose classes the envs need, if they need any."""


def main(socket_fd: int, status_fd: int) -> None:
    """Work until the parent says that it is enough, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_fd)
    # The parent sees the end of this process by the end of the connection, so nobody else may hold it open.
    connection.set_inheritable(False)
    os.register_at_fork(after_in_child=lambda: os.close(connection.detach()))
    stream = connection.makefile("rb")
    status = CallStatus(status_fd)

    def read() -> bytes:
        header = stream.read(LENGTH_BYTES)
        data = stream.read(length(header)) if len(header) == LENGTH_BYTES else b""
        if len(header) < LENGTH_BYTES or len(data) < length(header):
            raise EOFError
        return data

    def feed() -> None:
        while (batch := pickle.loads(read())) is not None:
            worker.put(batch)
        worker.stop()

    def answer() -> None:
        while True:
            connection.sendall(frame(pickle.dumps(worker.take())))

    start: WorkerStart = pickle.loads(read())
    if start.main is not None:
        _import_main(start.main)
    worker = Worker(start.init, status.announce)
    connection.sendall(frame(pickle.dumps([])))
    for task in (feed, answer):
        threading.Thread(target=_run_or_kill, args=[task], daemon=True).start()
    worker.run()


def _run_or_kill(task: Callable[[], None]) -> None:
    """Without its parent, or without one of its threads, the process has nothing to live for."""
    try:
        task()
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)
    except BaseException:
        traceback.print_exc()
        os.killpg(0, signal.SIGKILL)


def _import_main(path: str) -> None:
    """Define what the parent's script defines, as `multiprocessing` does for the processes that it spawns."""
    global running_main  # noqa: PLW0603
    running_main = True
    names = runpy.run_path(path, run_name="__mp_main__")
    module = type(sys)("__mp_main__")
    module.__dict__.update(names)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    running_main = False
