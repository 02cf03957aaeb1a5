"""Recovery of envs whose worker has died.

The parent keeps a log of the current episode of every slot: seed and actions, which are enough to replay the episode,
because envs are deterministic. When a worker dies, a new one takes over its slots: the env that was being called fails,
the episodes of the others are replayed, and pending messages are sent again. If it is not known which env was being
called, slots are replayed one at a time, until one of them ends the worker again.
"""

import pickle
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from gem.errors import ConfigError, Failure, failure_of
from gem.vector.backend import EnvSet, timed_out
from gem.vector.call_status import EnvCall
from gem.vector.messages import Autoreset, EpisodeLog, Rebuild, Reset, Restore, SeedStream, SlotMessage, SlotResult
from gem.vector.worker import Batch, WorkerAnswer, WorkerInit, unpickle

MAX_FAILED_STARTS = 3
SILENCE = 5.0
"""Seconds beside the limit of a step after which a worker that is silent, and calls no env, is given up although nobody
is known to have stopped it, as in a container that is frozen."""


class WorkerLost(Exception):
    """A worker has died; the text says how."""


def pickled(what: str, value: object, dumps: Callable[[object], bytes] = pickle.dumps) -> bytes:
    """`value`, pickled for a worker. Raises `ConfigError` if it cannot be."""
    try:
        return dumps(value)
    except Exception as error:
        raise ConfigError(
            f"{what} is sent to another process, and cannot be pickled ({error}). Move functions and classes to the "
            'top level of a module, or use backend="thread"'
        ) from error


class WorkerHandle(ABC):
    """The parent's handle of a worker."""

    def __init__(self, slots: Sequence[int]) -> None:
        self.slots = tuple(slots)
        self.ready = False
        """True once it has started."""
        self.next_check = 0.0
        """The time of the next check for an overdue call."""
        self.heard = time.monotonic()
        """The time when it was started, last answered, or was asked after it had answered everything."""
        self.failed_starts = 0
        """Workers for these slots that have ended in succession before they were ready."""
        self.suspects: deque[int] = deque()
        """Slots still to be replayed one at a time; the first is in progress."""

    @abstractmethod
    def send(self, batch: Batch) -> None:
        """Send a batch without waiting. `receive` reports a worker that has died."""

    @abstractmethod
    def receive(self) -> list[tuple[int, bytes]]:
        """The answers that are ready.

        Raises:
            WorkerLost: the worker has died, and all its answers have been read.
        """

    @abstractmethod
    def call(self) -> EnvCall | None:
        """The running call, or that during which the worker died; None if there is none or it is not known."""

    def is_stopped(self) -> bool:
        """Whether it is known to be stopped, as by SIGSTOP: unlike a slow worker, it does nothing for however long."""
        return False

    @abstractmethod
    def kill(self) -> None:
        """End the worker at once; what it has answered can still be received."""

    @abstractmethod
    def close(self) -> None:
        """End the worker at once, and release its resources."""


L = TypeVar("L", bound=WorkerHandle)


class RemoteBackend(ABC, Generic[L]):
    """Distributes the slots over workers (slot `i` to worker `i % num_workers`), and replaces workers that die.

    Args:
        env_set: the envs.
        start: starts a worker.
        num_workers: how many workers; by default one per core, and at most one per slot.
        cores: the number of cores for workers.
        dumps: pickles the makers.
    """

    def __init__(
        self,
        env_set: EnvSet,
        start: Callable[[WorkerInit], L],
        num_workers: int | None,
        cores: int,
        dumps: Callable[[object], bytes] = pickle.dumps,
    ) -> None:
        self._makers = [pickled(f"the maker of slot {slot}", m, dumps) for slot, m in enumerate(env_set.makers)]
        self._info_methods = env_set.info_methods
        self._roles = env_set.roles
        self._role_settings = (
            pickled("the models of the roles", env_set.roles.settings, dumps) if env_set.roles else None
        )
        self._start = start
        self._limit = env_set.step_timeout
        self._logs = [EpisodeLog(stream) for stream in env_set.streams]
        self._pending: dict[int, tuple[SlotMessage, Autoreset]] = {}
        self._results: list[SlotResult] = []
        number = min(num_workers or cores, len(self._makers))
        self._workers = [self._worker(range(first, len(self._makers), number)) for first in range(number)]

    def _worker(self, slots: Iterable[int]) -> L:
        """A new worker for these slots."""
        makers = {slot: self._makers[slot] for slot in slots}
        streams = {slot: self._logs[slot].stream for slot in makers}
        return self._start(WorkerInit(makers, streams, self._info_methods, self._role_settings))

    @property
    def independent(self) -> bool:
        """Whether each env has a worker of its own."""
        return len(self._workers) == len(self._makers)

    @abstractmethod
    def share_capacities(self) -> None:
        """See `Backend`."""

    @abstractmethod
    def _wait(self, timeout: float | None) -> Sequence[L]:
        """The workers with something to receive; waits up to `timeout` seconds for the first."""

    @abstractmethod
    def close(self) -> None:
        """See `Backend`."""

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        for message in messages.values():
            if isinstance(message, Reset) and message.options is not None:
                pickled("the options of a reset", message.options)
        busy = self._busy()
        batches: list[list[tuple[int, SlotMessage, Autoreset]]] = [[] for _ in self._workers]
        for slot, message in messages.items():
            self._pending[slot] = message, autoreset
            number = slot % len(self._workers)
            # Messages to a slot that is still to be replayed are sent when its turn comes.
            suspects = self._workers[number].suspects
            if not suspects or slot == suspects[0] or slot not in suspects:
                batches[number].append((slot, message, autoreset))
        for number, (worker, batch) in enumerate(zip(self._workers, batches, strict=True)):
            if batch:
                worker.next_check = 0.0
                if number not in busy:
                    worker.heard = time.monotonic()
                worker.send(batch)

    def recv(self, timeout: float | None) -> list[SlotResult]:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            deadlines = [deadline for deadline in (until, self._kill_overdue()) if deadline is not None]
            if self._results:
                deadlines = [0.0]
            for worker in self._wait(max(0.0, min(deadlines) - time.monotonic()) if deadlines else None):
                self._receive(worker)
            if self._results or (until is not None and time.monotonic() >= until):
                results, self._results = self._results, []
                return results

    def _busy(self) -> set[int]:
        """The numbers of the workers with a pending message."""
        return {slot % len(self._workers) for slot in self._pending} if self._limit is not None else set()

    def _receive(self, worker: L) -> None:
        worker.heard = time.monotonic()
        try:
            self._accept(worker, worker.receive())
        except WorkerLost as loss:
            call = worker.call()
            if call is not None:
                self._fail_slot(call.slot, call.stream, f"WorkerLost: {loss}")
            elif worker.suspects:
                slot = worker.suspects[0]
                self._fail_slot(slot, self._current_stream(slot), f"WorkerLost: {loss}")
            elif worker.ready:
                self._replace(worker, one_at_a_time=True)
                return
            self._replace(worker, one_at_a_time=bool(worker.suspects))

    def _accept(self, worker: L, answers: Iterable[tuple[int, bytes]]) -> None:
        for slot, data in answers:
            try:
                answer = unpickle(slot, data)
            except Exception as error:
                self._rebuild_slot(worker, slot, failure_of(error))
                continue
            if answer.asked and self._roles is not None:
                self._roles.count(answer.asked)
            # The result of a `Restore` is empty.
            if answer.result.step is not None or answer.result.failure is not None:
                self._update_log(answer)
                self._results.append(answer.result)
            if worker.suspects and slot == worker.suspects[0] and slot not in self._pending:
                worker.suspects.popleft()
                if worker.suspects:
                    worker.send(self._recovery_batch(worker.suspects[0]))

    def _update_log(self, answer: WorkerAnswer) -> None:
        """Add an answer to the log of its slot."""
        slot, step, _ = answer.result
        message, _ = self._pending.pop(slot)
        log = self._logs[slot]
        log.playing, log.failure = answer.playing, None
        if answer.stream is not None:
            log.stream, log.options, log.actions = answer.stream, answer.options, []
        elif isinstance(message, str):
            log.actions.append(message)
        if step is not None:
            log.observation = step.observation

    def _rebuild_slot(self, worker: L, slot: int, failure: Failure) -> None:
        """The answer cannot be unpickled, so the state of the env is not known: have it rebuilt."""
        _, autoreset = self._pending[slot]
        self._pending[slot] = Rebuild(self._current_stream(slot), failure), autoreset
        worker.send([(slot, *self._pending[slot])])

    def _kill_overdue(self) -> float | None:
        """Kill and replace the workers with an overdue call; returns when to check again."""
        if self._limit is None or not self._pending:
            return None
        now = time.monotonic()
        busy = self._busy()
        for number in busy:
            worker = self._workers[number]
            if now < worker.next_check:
                continue
            call = worker.call()
            seconds = call.seconds if call else now - worker.heard
            # A call that begins later is due later than this.
            worker.next_check = now + (self._limit - seconds if seconds < self._limit else min(self._limit, SILENCE))
            if seconds < self._limit:
                continue
            if call is not None:
                self._end(worker, call, timed_out(self._limit))
            elif worker in self._wait(0.0):
                continue  # it has answered while nobody received
            elif worker.is_stopped() or (worker.ready and seconds >= self._limit + SILENCE):
                self._end(worker, None, "")  # no env is to blame
        return min(self._workers[number].next_check for number in busy)

    def _end(self, worker: L, call: EnvCall | None, cause: str) -> None:
        """Kill and replace a worker; the env of its call fails."""
        worker.kill()
        message = self._pending.get(call.slot) if call else None
        # Earlier answers count, even one of the last moment.
        with suppress(WorkerLost):
            while True:
                self._accept(worker, worker.receive())
        if call and self._pending.get(call.slot) is message:
            self._fail_slot(call.slot, call.stream, cause)
        self._replace(worker, one_at_a_time=False)

    def _fail_slot(self, slot: int, stream: SeedStream, cause: str) -> None:
        """Report the death of a worker as the failure of the slot whose env was being called."""
        failure = Failure(cause, "")
        log = self._logs[slot] = EpisodeLog(stream)
        match self._pending.get(slot):
            case None:
                log.failure = failure
            case Rebuild(failure=failure), _:
                # Its env ends even the worker that rebuilds it: wait for the next message.
                del self._pending[slot]
                self._results.append(SlotResult(slot, None, failure))
            case _, autoreset:
                self._pending[slot] = Rebuild(stream, failure), autoreset

    def _replace(self, lost: L, *, one_at_a_time: bool) -> None:
        """Replay the slots of a worker that has died in a new one."""
        failed_starts = 0 if lost.ready else lost.failed_starts + 1
        if failed_starts >= MAX_FAILED_STARTS:
            raise RuntimeError("workers end before they have started; see what they printed")
        lost.close()
        worker = self._worker(lost.slots)
        worker.failed_starts = failed_starts
        self._workers[self._workers.index(lost)] = worker
        # Slots with a pending message first.
        slots = sorted(worker.slots, key=lambda slot: slot not in self._pending)
        todo = [(slot, self._recovery_batch(slot)) for slot in slots]
        if one_at_a_time:
            worker.suspects.extend(slot for slot, batch in todo if batch)
            if worker.suspects:
                worker.send(self._recovery_batch(worker.suspects[0]))
        else:
            worker.send([item for _, batch in todo for item in batch])

    def _recovery_batch(self, slot: int) -> Batch:
        """The messages that replay `slot`, and its pending one."""
        log = self._logs[slot]
        pending = self._pending.get(slot)
        batch: list[tuple[int, SlotMessage, Autoreset]] = []
        if (log.playing or log.failure is not None) and (pending is None or isinstance(pending[0], str)):
            batch.append((slot, Restore(log), "off"))
        if pending is not None:
            batch.append((slot, *pending))
        return batch

    def _current_stream(self, slot: int) -> SeedStream:
        """The position in the stream of `slot`, as far as it is known without its worker."""
        log = self._logs[slot]
        match self._pending.get(slot):
            case Reset(seed=int(seed)), _:
                return SeedStream(seed, 0)
            case (Reset(), _) | (str(), "same_step" | "next_step") if not log.playing:
                return log.stream.next()
            case _:
                return log.stream
