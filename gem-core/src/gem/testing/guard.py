"""Running checks in a separate process, so that an env that hangs or ends the process fails only its check."""

import faulthandler
import multiprocessing
import os
import pickle
import signal
import time
from collections import Counter
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Self

from gem.packs.registry import RegistryEntry, registry
from gem.packs.spec import EnvSpec
from gem.testing.checks import CheckOutcome, run_check
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject

LIMIT = 180.0
"""The default time limit of a check in seconds."""
_MAX_STOPPED = 2
"""The most checks of an env that may hang or end the process; later ones are not run, to save time."""
_GRACE = 1.0
"""Seconds that the process has to print where it hangs, or to end after its connection."""
_READY = "ready"
_START = 60.0
"""The time limit of starting a process in seconds."""


class Guard:
    """Runs checks in one process, which is started when needed and kept until `close`.

    Args:
        limit: seconds per check; after that, its traceback is printed on standard error.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._worker: _GuardProcess | None = None
        self._stopped: Counter[str] = Counter()

    def run(self, name: str, entry: RegistryEntry, episodes: int) -> CheckOutcome:
        """The outcome of one check of an environment; never raises."""
        spec, pack = entry.spec, entry.pack and entry.pack.distribution
        if self._stopped[spec.id] >= _MAX_STOPPED:
            what = f"It was not run, because {_MAX_STOPPED} earlier checks did not finish."
            return CheckOutcome(name, "failed", what, "See their results.")
        try:
            job = pickle.dumps((name, spec, pack, episodes, self._limit))
        except Exception as error:
            what = f"Pickling the spec raised {type(error).__name__}: {error}."
            return CheckOutcome(name, "failed", what, "The arguments of a spec must be plain data.")
        if self._worker is None:
            self._worker = _GuardProcess()
        worker = self._worker
        try:
            worker.connection.send_bytes(job)
            if worker.connection.poll(self._limit + _GRACE):
                return worker.connection.recv()
        except (EOFError, OSError):
            what = f"The env ended the process that played it, {_ended(worker.status())}."
            fix = "Raise an exception instead: other envs may run in the same process."
        else:
            what = f"The check did not end within {self._limit:g} s; its traceback is on standard error."
            fix = "reset(), step() and close() must return; if they need more time, use --timeout."
        self._stopped[spec.id] += 1
        self.close()
        return CheckOutcome(name, "failed", what, fix)

    def close(self) -> None:
        """End the process and its children."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _GuardProcess:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        # Not a daemon, because it starts processes itself.
        self.process = context.Process(target=serve, args=(theirs,))
        # Until it has a group of its own, Ctrl-C goes to it too, and it would print a traceback. The tracker of
        # multiprocessing is started first, because starting it unblocks the signal.
        resource_tracker.ensure_running()
        try:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                self.process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()
            # The limit is on checks, not on starting.
            if not self.connection.poll(_START) or self.connection.recv() != _READY:
                raise RuntimeError("the process for checks did not start; see standard error")
        except BaseException:
            if self.process.pid is not None:
                self.close()
            raise

    def status(self) -> int | None:
        """The exit code of the process; None if it is running although its connection has ended."""
        until = time.monotonic() + _GRACE
        # `join` with a timeout would wait for ever if the env has closed the sentinel of the process.
        while self.process.exitcode is None and time.monotonic() < until:
            time.sleep(0.01)
        return self.process.exitcode

    def close(self) -> None:
        self.connection.close()
        pid = self.process.pid
        assert pid is not None
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            # The group has ended, or has not been created yet.
            self.process.kill()
        self.process.join()
        self.process.close()


def serve(connection: "Connection[Any, Any]") -> None:
    """The main function of the process: jobs in, outcomes out."""
    # A process group, so that processes of the env can be ended with it.
    os.setsid()
    # A Ctrl-C from before that is dropped, and others reach the processes of the env.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Output of the env must not mix with the standard output of the parent.
    os.dup2(2, 1)
    connection.send(_READY)
    subjects: dict[tuple[str, int], Subject] = {}
    with SpawnedProcesses() as spawned:
        while True:
            try:
                job = connection.recv_bytes()
            except EOFError:
                return
            name, spec, distribution, episodes, limit = pickle.loads(job)
            faulthandler.dump_traceback_later(limit)
            subject = Subject(spec, _pack(spec, distribution), spawned, episodes)
            outcome = run_check(name, subjects.setdefault((spec.id, episodes), subject))
            faulthandler.cancel_dump_traceback_later()
            connection.send(outcome)


def _pack(spec: EnvSpec, distribution: str | None) -> Any:
    if distribution is None:
        return None
    return next(pack for pack in registry().load(spec.namespace) if pack.distribution == distribution)


def _ended(status: int | None) -> str:
    """A description of the exit status of a process; None if only the connection was closed."""
    if status is None:
        return "or closed files that are not its own"
    if status < 0:
        return f"by signal {-status} ({signal.Signals(-status).name})"
    return f"with exit status {status}"
