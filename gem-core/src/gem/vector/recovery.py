"""The parent's side of workers that live elsewhere and may die there.

For every slot there is a record of its current episode: seed and actions, which is all it takes to play the episode
again, because envs are deterministic. When a worker dies or is killed, a new one takes over its slots: the env that
was being called fails, the others are brought back to where they stood, and messages without an answer are sent
again. Where it is not known which env was being called, the slots are brought back one at a time, until one of them
takes the worker with it again.
"""

import pickle
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from gem.errors import ConfigError
from gem.failure import Failure, failure_of
from gem.vector.backend import timed_out
from gem.vector.call_status import EnvCall
from gem.vector.messages import Autoreset, EpisodeLog, Rebuild, Reset, Restore, SeedStream, SlotMessage, SlotResult
from gem.vector.worker import Batch, WorkerAnswer, unpickle

MAX_FAILED_STARTS = 3


class WorkerLost(Exception):
    """A worker is gone; the text says how."""


def pickled(what: str, value: object, dumps: Callable[[object], bytes] = pickle.dumps) -> bytes:
    """`value`, pickled for a worker.

    Raises:
        ConfigError: it cannot be pickled.
    """
    try:
        return dumps(value)
    except Exception as error:
        raise ConfigError(
            f"{what} must go to another process, and cannot be pickled ({error}). Move functions and classes to the "
            'top level of a module, or use backend="thread"'
        ) from error


class WorkerHandle(ABC):
    """One worker, as its parent sees it."""

    def __init__(self, slots: Sequence[int]) -> None:
        self.slots = tuple(slots)
        self.ready = False
        """Whether it has begun to work."""
        self.next_check = 0.0
        """When to look next whether a call is overdue."""
        self.failed_starts = 0
        """How many workers in this one's place have ended before they were ready, one after another."""
        self.suspects: deque[int] = deque()
        """Slots still to be brought back one at a time; the first is under way."""

    @abstractmethod
    def send(self, batch: Batch) -> None:
        """Pass a batch on, without waiting. A worker that is gone is found out by `receive`."""

    @abstractmethod
    def receive(self) -> list[tuple[int, bytes]]:
        """The answers that are there.

        Raises:
            WorkerLost: it is gone, and there are no more answers.
        """

    @abstractmethod
    def call(self) -> EnvCall | None:
        """The call that is under way, or was when the worker died; None if there is none, or none is known."""

    @abstractmethod
    def kill(self) -> None:
        """End the worker at once."""


L = TypeVar("L", bound=WorkerHandle)


class RemoteBackend(ABC, Generic[L]):
    """Spreads the slots over workers, and keeps what it takes to replace one.

    Args:
        streams: where the seeds of each slot begin.
        num_workers: how many workers; slot `i` goes to worker `i % num_workers`.
        step_timeout: seconds for each `reset` and `step` of an env.
    """

    def __init__(self, streams: Sequence[SeedStream], num_workers: int, step_timeout: float | None) -> None:
        self._limit = step_timeout
        self._logs = [EpisodeLog(stream) for stream in streams]
        self._pending: dict[int, tuple[SlotMessage, Autoreset]] = {}
        self._results: list[SlotResult] = []
        self._workers = [
            self._start({slot: streams[slot] for slot in range(first, len(streams), num_workers)})
            for first in range(num_workers)
        ]

    @abstractmethod
    def _start(self, streams: Mapping[int, SeedStream]) -> L:
        """Start a worker for these slots."""

    @abstractmethod
    def _discard(self, worker: L) -> None:
        """Let go of a worker that is gone."""

    @abstractmethod
    def _wait(self, timeout: float | None) -> Sequence[L]:
        """The workers that have something to receive; waits for the first, `timeout` seconds at most."""

    @abstractmethod
    def close(self) -> None:
        """See `Backend`."""

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        for message in messages.values():
            if isinstance(message, Reset) and message.options is not None:
                pickled("the options of a reset", message.options)
        batches: list[list[tuple[int, SlotMessage, Autoreset]]] = [[] for _ in self._workers]
        for slot, message in messages.items():
            self._pending[slot] = message, autoreset
            number = slot % len(self._workers)
            # What is sent to a slot that still waits to be brought back goes with it, when its turn comes.
            suspects = self._workers[number].suspects
            if not suspects or slot == suspects[0] or slot not in suspects:
                batches[number].append((slot, message, autoreset))
        for worker, batch in zip(self._workers, batches, strict=True):
            if batch:
                worker.next_check = 0.0
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

    def _receive(self, worker: L) -> None:
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
            # A slot that was brought back answers with nothing.
            if answer.result.step is not None or answer.result.failure is not None:
                self._update_log(answer)
                self._results.append(answer.result)
            if worker.suspects and slot == worker.suspects[0] and slot not in self._pending:
                worker.suspects.popleft()
                if worker.suspects:
                    worker.send(self._todo(worker.suspects[0]))

    def _update_log(self, answer: WorkerAnswer) -> None:
        """Write what happened in a slot into its record."""
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
        """The answer cannot be read here: what happened in the env is not known any more."""
        _, autoreset = self._pending[slot]
        self._pending[slot] = Rebuild(self._current_stream(slot), failure), autoreset
        worker.send([(slot, *self._pending[slot])])

    def _kill_overdue(self) -> float | None:
        """Replace the workers in which a call is overdue; returns when to look again."""
        if self._limit is None or not self._pending:
            return None
        now = time.monotonic()
        busy = {slot % len(self._workers) for slot in self._pending}
        for number in busy:
            worker = self._workers[number]
            if now < worker.next_check:
                continue
            call = worker.call()
            # A call that begins later is due later than this.
            worker.next_check = now + self._limit - (call.seconds if call else 0.0)
            if call is not None and call.seconds >= self._limit:
                self._end(worker, call, timed_out(self._limit))
        return min(self._workers[number].next_check for number in busy)

    def _end(self, worker: L, call: EnvCall, cause: str) -> None:
        worker.kill()
        message = self._pending.get(call.slot)
        # What it had answered before counts, and it may have answered in the last moment.
        with suppress(WorkerLost):
            while True:
                self._accept(worker, worker.receive())
        if self._pending.get(call.slot) is message:
            self._fail_slot(call.slot, call.stream, cause)
        self._replace(worker, one_at_a_time=False)

    def _fail_slot(self, slot: int, stream: SeedStream, cause: str) -> None:
        """Make the loss of a worker the failure of the slot whose env was being called."""
        failure = Failure(cause, "")
        log = self._logs[slot] = EpisodeLog(stream)
        match self._pending.get(slot):
            case None:
                log.failure = failure
            case Rebuild(failure=failure), _:
                # Its env kills even the worker that builds it anew: leave it, until there is another message.
                del self._pending[slot]
                self._results.append(SlotResult(slot, None, failure))
            case _, autoreset:
                self._pending[slot] = Rebuild(stream, failure), autoreset

    def _replace(self, lost: L, *, one_at_a_time: bool) -> None:
        """Bring the slots of a worker that is gone back in a new one."""
        failed_starts = 0 if lost.ready else lost.failed_starts + 1
        if failed_starts >= MAX_FAILED_STARTS:
            raise RuntimeError("workers end before they have begun; what they printed says why")
        self._discard(lost)
        worker = self._start({slot: self._logs[slot].stream for slot in lost.slots})
        worker.failed_starts = failed_starts
        self._workers[self._workers.index(lost)] = worker
        # Those that somebody waits for come first.
        slots = sorted(worker.slots, key=lambda slot: slot not in self._pending)
        todo = [(slot, self._todo(slot)) for slot in slots]
        if one_at_a_time:
            worker.suspects.extend(slot for slot, batch in todo if batch)
            if worker.suspects:
                worker.send(self._todo(worker.suspects[0]))
        else:
            worker.send([item for _, batch in todo for item in batch])

    def _todo(self, slot: int) -> Batch:
        """What brings `slot` back to where it stood, and on with what it was to do."""
        log = self._logs[slot]
        under_way = self._pending.get(slot)
        batch: list[tuple[int, SlotMessage, Autoreset]] = []
        if (log.playing or log.failure is not None) and (under_way is None or isinstance(under_way[0], str)):
            batch.append((slot, Restore(log), "off"))
        if under_way is not None:
            batch.append((slot, *under_way))
        return batch

    def _current_stream(self, slot: int) -> SeedStream:
        """How far the stream of `slot` has come, as far as can be told without its worker."""
        log = self._logs[slot]
        match self._pending.get(slot):
            case Reset(seed=int(seed)), _:
                return SeedStream(seed, 0)
            case (Reset(), _) | (str(), "same_step" | "next_step") if not log.playing:
                return log.stream.next()
            case _:
                return log.stream
