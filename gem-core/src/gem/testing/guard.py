"""Checks in a process of their own: an env that ends it or never comes back fails the check, and the rest go on."""

import faulthandler
import multiprocessing
import os
import pickle
import signal
import time
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any, Self

from gem.packs.registry import RegistryEntry, registry
from gem.packs.spec import EnvSpec
from gem.testing.checks import CheckOutcome, run_check
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject

LIMIT = 180.0
"""Seconds that a check may take, unless told otherwise."""
_MAX_STOPPED = 2
"""Checks of an env that may hang or end the process before the others are not tried: each costs a limit or a start."""
_GRACE = 1.0
"""Seconds after the limit in which the process says where it hangs, and after its connection in which it ends."""
_READY = "ready"
_START = 60.0
"""Seconds until a new process must be ready."""


class Guard:
    """Runs checks in one process, which is started when first asked, replaced when it ends, and kept until `close`.

    Args:
        limit: seconds that a check may take. Where it is at that time goes to standard error.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._worker: _GuardProcess | None = None
        self._stopped: Counter[str] = Counter()

    def run(self, name: str, entry: RegistryEntry, episodes: int) -> CheckOutcome:
        """What one check of an environment finds. It never raises."""
        spec, pack = entry.spec, entry.pack and entry.pack.distribution
        if self._stopped[spec.id] >= _MAX_STOPPED:
            what = f"It was not run, because {_MAX_STOPPED} checks before it did not come to their end."
            return CheckOutcome(name, "failed", what, "See what they say.")
        try:
            job = pickle.dumps((name, spec, pack, episodes, self._limit))
        except Exception as error:
            what = f"Pickling the spec raised {type(error).__name__}: {error}."
            return CheckOutcome(name, "failed", what, "Let the arguments of a spec be plain data.")
        if self._worker is None:
            self._worker = _GuardProcess()
        worker = self._worker
        try:
            worker.connection.send_bytes(job)
            if worker.connection.poll(self._limit + _GRACE):
                return worker.connection.recv()
        except (EOFError, OSError):
            what = f"The env ended the process that played it, {_ended(worker.status())}."
            fix = "Let the env raise an exception: whoever runs it may run others in the same process."
        else:
            what = f"The check did not end within {self._limit:g} s; standard error has where it was."
            fix = "Let reset(), step() and close() come back; where that takes this long, allow more by --timeout."
        self._stopped[spec.id] += 1
        self.close()
        return CheckOutcome(name, "failed", what, fix)

    def close(self) -> None:
        """End the process, and those that it has started."""
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
        # It is no daemon, because it starts processes itself.
        self.process = context.Process(target=serve, args=(theirs,))
        self.process.start()
        theirs.close()
        # The limit is on checks, not on starting.
        if not self.connection.poll(_START) or self.connection.recv() != _READY:
            raise RuntimeError("the process for checks did not start; standard error says why")

    def status(self) -> int | None:
        """How the process ended; None if it lives on although its connection has ended."""
        until = time.monotonic() + _GRACE
        # `join` with a timeout would wait for ever: it takes the end of another file, which may be closed too, for that
        # of the process.
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
            # It has ended with all of its group, or has not come to having one.
            self.process.kill()
        self.process.join()
        self.process.close()


def serve(connection: "Connection[Any, Any]") -> None:
    """The life of such a process: jobs in, outcomes out."""
    # A group of its own, so that what an env starts can be ended with it.
    os.setsid()
    # What an env prints must not mix with what the parent prints on standard output.
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
    """How a process ended, in words; None for one that only closed what it was connected by."""
    if status is None:
        return "or closed files that are not its own"
    if status < 0:
        return f"by signal {-status} ({signal.Signals(-status).name})"
    return f"with exit status {status}"
