"""Envs in Ray actors, on this machine or on a cluster."""

import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from gem.errors import ConfigError, MissingExtra
from gem.vector.backend import GRACE, EnvSet
from gem.vector.call_status import EnvCall
from gem.vector.messages import SeedStream
from gem.vector.recovery import RemoteBackend, WorkerHandle, WorkerLost
from gem.vector.slot import NO_SLOT
from gem.vector.worker import Batch, Worker, WorkerInit

CALL_TIMEOUT = 5.0
"""Seconds in which an actor must report its running call."""
POLL_INTERVAL = 10.0
"""Seconds after which `take` returns without an answer."""

_GROUPS = {"put": 1, "take": 1, "call": 1}
"""Threads of an actor: one per kind of request, so that none waits for another."""


class EnvActor(Worker):
    """A `Worker` as an actor, whose envs run in a thread."""

    def __init__(self, init: WorkerInit, path: Sequence[str]) -> None:
        # `sys.path` of the parent, for its own machine; other machines need the packs installed.
        sys.path.extend(folder for folder in path if folder not in sys.path)
        self._call: tuple[int, SeedStream, float] | None = None
        super().__init__(init, self._set_call)
        self._thread = threading.Thread(target=self.run, daemon=True)
        self._thread.start()

    def _set_call(self, slot: int, stream: SeedStream) -> None:
        self._call = None if slot == NO_SLOT else (slot, stream, time.monotonic())

    def call(self) -> EnvCall | None:
        """The running call."""
        call = self._call
        return None if call is None else EnvCall(call[0], call[1], time.monotonic() - call[2])

    def stop(self) -> None:
        """Close the envs."""
        super().stop()
        self._thread.join(GRACE)


class RayWorkerHandle(WorkerHandle):
    """One actor, with one pending request for its next answers."""

    def __init__(self, ray: Any, init: WorkerInit) -> None:
        super().__init__(list(init.makers))
        self._ray = ray
        actor = ray.remote(concurrency_groups=_GROUPS, scheduling_strategy="SPREAD")(EnvActor)
        self._actor = actor.remote(init, sys.path)
        self._alive = True
        self.answers = self.ask("take", 0.0)

    def send(self, batch: Batch) -> None:
        if batch:
            self.ask("put", list(batch))

    def receive(self) -> list[tuple[int, bytes]]:
        try:
            answers = self._ray.get(self.answers)
        except self._ray.exceptions.RayError as error:
            self._alive = False
            raise WorkerLost(f"the Ray actor of this env has died: {str(error).splitlines()[0]}") from error
        self.ready = True
        self.answers = self.ask("take", POLL_INTERVAL)
        return answers

    def call(self) -> EnvCall | None:
        # Before the first answers, which are none, there are no calls. On a busy cluster an actor may start late.
        if not (self._alive and self.ready):
            return None
        try:
            return self._ray.get(self.ask("call"), timeout=CALL_TIMEOUT)
        except self._ray.exceptions.GetTimeoutError:
            # The env holds the interpreter lock. Recovery will find out which env it is.
            self.kill()
            return None
        except self._ray.exceptions.RayError:
            return None

    def kill(self) -> None:
        self._ray.kill(self._actor)

    def close(self) -> None:
        self.kill()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of the actor; returns a reference to its result."""
        group = name if name in _GROUPS else "call"
        return getattr(self._actor, name).options(concurrency_group=group).remote(*arguments)


class RayBackend(RemoteBackend[RayWorkerHandle]):
    """The workers of `"process"` as Ray actors. If one dies, its slots are replayed one at a time.

    Args:
        env_set: the envs.
        num_workers: actors; by default one per core of the cluster.

    Raises:
        MissingExtra: Ray is not installed.
    """

    def __init__(self, env_set: EnvSet, num_workers: int | None) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise MissingExtra("backend=\"ray\" needs Ray: pip install 'gem-core[ray]'") from error
        self._ray: Any = ray
        self._connected_here = not self._ray.is_initialized()
        if self._connected_here:
            self._ray.init(include_dashboard=False)
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        # cloudpickle accepts functions that are defined anywhere.
        dumps = self._ray.cloudpickle.dumps
        super().__init__(env_set, partial(RayWorkerHandle, ray), num_workers, max(1, cores), dumps)

    def share_capacities(self) -> None:
        raise ConfigError(
            'a resource has a capacity, which actors on other machines cannot share: use backend="process" or "thread"'
        )

    def close(self) -> None:
        if not self._ray.is_initialized():  # at the end of a program Ray may be shut down first
            return
        self._ray.wait(
            [worker.ask("stop") for worker in self._workers], num_returns=len(self._workers), timeout=2 * GRACE
        )
        for worker in self._workers:
            worker.kill()
        if self._connected_here:
            self._ray.shutdown()

    def _wait(self, timeout: float | None) -> Sequence[RayWorkerHandle]:
        workers = {worker.answers: worker for worker in self._workers}
        first, _ = self._ray.wait(list(workers), timeout=timeout)
        if not first:
            return []
        ready, _ = self._ray.wait(list(workers), num_returns=len(workers), timeout=0)
        return [workers[ref] for ref in ready]
