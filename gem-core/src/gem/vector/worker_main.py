"""The program of a worker process.

The envs run in the main thread, where they may use signals; two more threads read batches and write answers. When the
parent ends, for any reason, the process ends at once, and with it the processes of its group.
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
"""Whether this worker is importing the script of its parent."""


class WorkerStart(NamedTuple):
    """The first message to a worker process."""

    init: WorkerInit
    main: str | None
    """The script that defines classes of the envs, if one does."""


def main(socket_fd: int, status_fd: int) -> None:
    """Work until the parent stops the worker or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_fd)
    # The parent notices the end of this process by the end of the connection: children must not keep it open.
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
    """Run a task of a thread; when it ends, with the parent or by an error, kill the process group."""
    try:
        task()
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)
    except BaseException:
        traceback.print_exc()
        os.killpg(0, signal.SIGKILL)


def _import_main(path: str) -> None:
    """Import the script of the parent, as `multiprocessing` does in spawned processes."""
    global running_main  # noqa: PLW0603
    running_main = True
    names = runpy.run_path(path, run_name="__mp_main__")
    module = type(sys)("__mp_main__")
    module.__dict__.update(names)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    running_main = False
