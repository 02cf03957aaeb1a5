"""Running checks in a separate process, so that an env that hangs or ends the process fails only its check."""

import faulthandler
import pickle
import socket
import time
from collections import Counter
from contextlib import suppress
from typing import Any, Self

from gem import roles
from gem.packs.registry import RegistryEntry, registry
from gem.packs.spec import EnvSpec
from gem.testing.checks import CheckOutcome, run_check
from gem.testing.spawned import SpawnedProcesses
from gem.testing.subject import Subject
from gem.work.channel import Channel, Ended
from gem.work.process import STDERR, WorkerProcess
from gem.work.script import loads_with_script, with_script

LIMIT = 180.0
"""The default time limit of a check in seconds."""
_MAX_STOPPED = 2
"""The most checks of an env that may hang or end the process; later ones are not run, to save time."""
_GRACE = 1.0
"""Seconds that the process has to print where it hangs."""
_START = 60.0
"""The time limit of starting a process in seconds."""


class Guard:
    """Runs checks in one process, which is started when needed and kept until `close`.

    After `limit` seconds, the traceback of a check is printed on standard error.
    """

    def __init__(self, limit: float = LIMIT) -> None:
        self._limit = limit
        self._worker: WorkerProcess | None = None
        self._stopped: Counter[str] = Counter()

    def run(self, name: str, entry: RegistryEntry, episodes: int) -> CheckOutcome:
        """The outcome of one check of an environment; never raises."""
        spec, pack = entry.spec, entry.pack and entry.pack.distribution
        if self._stopped[spec.id] >= _MAX_STOPPED:
            what = f"It was not run, because {_MAX_STOPPED} earlier checks did not finish."
            return CheckOutcome(name, "failed", what, "See their results.")
        try:
            job = with_script(pickle.dumps((name, spec, pack, episodes, self._limit, roles.settings())))
        except Exception as error:
            what = f"Pickling the spec, or the models of roles, raised {type(error).__name__}: {error}."
            fix = "The arguments of a spec must be plain data, and functions that play roles be those of a module."
            return CheckOutcome(name, "failed", what, fix)
        if self._worker is None:
            self._worker = _start()
        worker = self._worker
        try:
            worker.channel.send(job)
            return pickle.loads(worker.channel.receive(time.monotonic() + self._limit + _GRACE))
        except Ended:
            what = f"The process that played the env {worker.how_it_ended()}."
            fix = "Raise an exception instead: other envs may run in the same process. Close no files of others."
        except TimeoutError:
            what = f"The check did not end within {self._limit:g} s; its traceback is on standard error."
            fix = "reset(), step() and close() must return; if they need more time, use --timeout."
        self._stopped[spec.id] += 1
        self.close()
        return CheckOutcome(name, "failed", what, fix)

    def close(self) -> None:
        """End the process and its children."""
        if self._worker is not None:
            self._worker.close()
        self._worker = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _start() -> WorkerProcess:
    # Output of the env must not mix with the standard output of this process.
    worker = WorkerProcess("gem.testing.guard:serve", stdout=STDERR)
    try:
        worker.channel.receive(time.monotonic() + _START)  # the limit is on checks, not on starting
    except BaseException as error:
        worker.close()
        if isinstance(error, TimeoutError | Ended):
            raise RuntimeError("the process for checks did not start; see standard error") from error
        raise
    return worker


def serve(number: int) -> None:
    """Run the process: jobs in, outcomes out, by the socket `number`."""
    channel = Channel(socket.socket(fileno=number))
    channel.send(b"ready")
    subjects: dict[tuple[str, int], Subject] = {}
    with SpawnedProcesses() as spawned, suppress(Ended):
        while True:
            name, spec, distribution, episodes, limit, of_parent = loads_with_script(channel.receive())
            roles.take_over(of_parent)
            faulthandler.dump_traceback_later(limit)
            subject = Subject(spec, _pack(spec, distribution), spawned, episodes)
            outcome = run_check(name, subjects.setdefault((spec.id, episodes), subject))
            faulthandler.cancel_dump_traceback_later()
            channel.send(pickle.dumps(outcome))


def _pack(spec: EnvSpec, distribution: str | None) -> Any:
    if distribution is None:
        return None
    return next(pack for pack in registry().load(spec.namespace) if pack.distribution == distribution)
