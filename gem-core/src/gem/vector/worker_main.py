"""The program of a worker process.

The envs run in the main thread, where they may use signals; two more threads read batches and write answers. When the
parent ends, for any reason, the process ends at once, and with it the processes of its group.
"""

import os
import pickle
import signal
import socket
import threading
import traceback
from collections.abc import Callable

from gem.vector.call_status import CallStatus
from gem.vector.worker import Worker, WorkerInit
from gem.work.channel import Channel, Ended
from gem.work.permit_channel import ask_for_permits
from gem.work.script import loads_with_script


def main(socket_fd: int, status_fd: int, permits_fd: int) -> None:
    """Work until the parent stops the worker or ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=socket_fd))
    status = CallStatus(status_fd)
    ask_for_permits(socket.socket(fileno=permits_fd))

    def feed() -> None:
        while (batch := pickle.loads(channel.receive())) is not None:
            worker.put(batch)
        worker.stop()

    def answer() -> None:
        while True:
            channel.send(pickle.dumps(worker.take()))

    init: WorkerInit = loads_with_script(channel.receive())
    worker = Worker(init, status.announce)
    channel.send(pickle.dumps([]))
    for task in (feed, answer):
        threading.Thread(target=_run_or_kill, args=[task], daemon=True).start()
    worker.run()


def _run_or_kill(task: Callable[[], None]) -> None:
    """Run a task of a thread; when it fails, or the parent ends, kill the process group."""
    try:
        task()
    except BaseException as error:
        if not isinstance(error, Ended):
            traceback.print_exc()
        os.killpg(0, signal.SIGKILL)
