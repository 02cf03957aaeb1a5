"""Jobs in a process of their own, in which one may hang, or end the process, without harm to the next."""

import faulthandler
import importlib
import pickle
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Self

from gem.work.channel import Channel, Ended
from gem.work.process import STDERR, WorkerProcess
from gem.work.script import loads_with_script, with_script

_GRACE = 1.0
"""Seconds that the process has to print where it hangs."""
_START = 60.0
"""The time limit of starting a process in seconds."""


class JobStopped(Exception):
    """A job did not return: it took too long (`how` is None), or its process ended or closed its connection."""

    def __init__(self, how: str | None) -> None:
        super().__init__(how or "it took too long")
        self.how = how
        """How the process ended, as a clause without a subject."""


class NotSent(Exception):
    """An argument of a job cannot be pickled; the message says why."""


class GuardedProcess:
    """A process that carries out jobs, one at a time. It starts when needed, anew after a job that stopped.

    Args:
        worker: `"module:Class"` of a context manager, made without arguments and entered in the process. It is called
            with the arguments of each job, and its answers can be pickled.
        limit: seconds of a job, after which its traceback is printed on standard error.
        environment: variables of its own.
        group: see `gem.work.process.WorkerProcess`.
    """

    def __init__(
        self, worker: str, limit: float, *, environment: Mapping[str, str] | None = None, group: bool = True
    ) -> None:
        self.limit = limit
        self._start = partial(_start, worker, environment, group)
        self._process: WorkerProcess | None = None

    def run(self, *arguments: object) -> Any:
        """The answer to a job.

        Raises:
            JobStopped: there is none.
            NotSent: an argument cannot be pickled.
        """
        try:
            job = with_script(pickle.dumps((self.limit, arguments)))
        except Exception as error:
            raise NotSent(f"{type(error).__name__}: {error}") from error
        if self._process is None:
            self._process = self._start()
        process = self._process
        try:
            process.channel.send(job)
            return pickle.loads(process.channel.receive(time.monotonic() + self.limit + _GRACE))
        except Ended:
            how = process.how_it_ended()
        except TimeoutError:
            how = None
        self.close()
        raise JobStopped(how)

    def close(self) -> None:
        """End the process and its children."""
        if self._process is not None:
            self._process.close()
        self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start(worker: str, environment: Mapping[str, str] | None, group: bool) -> WorkerProcess:
    # Output of the jobs must not mix with the standard output of this process.
    process = WorkerProcess("gem.work.guarded:serve", worker, environment=environment, group=group, stdout=STDERR)
    try:
        process.channel.receive(time.monotonic() + _START)  # the limit is on jobs, not on starting
    except BaseException as error:
        process.close()
        if isinstance(error, TimeoutError | Ended):
            raise RuntimeError(f"the process of {worker} did not start; see standard error") from error
        raise
    return process


def serve(number: int, worker: str) -> None:
    """Run the process: jobs in, answers out, by the socket `number`."""
    module, _, name = worker.partition(":")
    channel = Channel(socket.socket(fileno=number))
    with getattr(importlib.import_module(module), name)() as carry_out, suppress(Ended):
        channel.send(b"ready")
        while True:
            limit, arguments = loads_with_script(channel.receive())
            faulthandler.dump_traceback_later(limit)
            answer = carry_out(*arguments)
            faulthandler.cancel_dump_traceback_later()
            channel.send(pickle.dumps(answer))
