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
from gem.vector.call_status import Call
from gem.vector.messages import Autoreset, Rebuild, Record, Reset, Restore, SlotMessage, SlotResult, Stream
from gem.vector.worker import Answer, Batch, unpickle

MOST_FALSE_STARTS = 3


class WorkerLost(Exception):
    """A worker is gone; the text says how."""


def portable(what: str, value: object, dumps: Callable[[object], bytes] = pickle.dumps) -> bytes:
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
        self.look_at = 0.0
        """When to look next whether a call is overdue."""
        self.false_starts = 0
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
    def call(self) -> Call | None:
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

    def __init__(self, streams: Sequence[Stream], num_workers: int, step_timeout: float | None) -> None:
        self._limit = step_timeout
        self._records = [Record(stream) for stream in streams]
        self._under_way: dict[int, tuple[SlotMessage, Autoreset]] = {}
        self._arrived: list[SlotResult] = []
        self._links = [
            self._start({slot: streams[slot] for slot in range(first, len(streams), num_workers)})
            for first in range(num_workers)
        ]

    @abstractmethod
    def _start(self, streams: Mapping[int, Stream]) -> L:
        """Start a worker for these slots."""

    @abstractmethod
    def _forget(self, worker: L) -> None:
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
                portable("the options of a reset", message.options)
        batches: list[list[tuple[int, SlotMessage, Autoreset]]] = [[] for _ in self._links]
        for slot, message in messages.items():
            self._under_way[slot] = message, autoreset
            number = slot % len(self._links)
            # What is sent to a slot that still waits to be brought back goes with it, when its turn comes.
            suspects = self._links[number].suspects
            if not suspects or slot == suspects[0] or slot not in suspects:
                batches[number].append((slot, message, autoreset))
        for worker, batch in zip(self._links, batches, strict=True):
            if batch:
                worker.look_at = 0.0
                worker.send(batch)

    def recv(self, timeout: float | None) -> list[SlotResult]:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            moments = [moment for moment in (until, self._end_overdue()) if moment is not None]
            if self._arrived:
                moments = [0.0]
            for worker in self._wait(max(0.0, min(moments) - time.monotonic()) if moments else None):
                self._receive(worker)
            if self._arrived or (until is not None and time.monotonic() >= until):
                results, self._arrived = self._arrived, []
                return results

    def _receive(self, worker: L) -> None:
        try:
            self._enter(worker, worker.receive())
        except WorkerLost as loss:
            call = worker.call()
            if call is not None:
                self._blame(call.slot, call.stream, f"WorkerLost: {loss}")
            elif worker.suspects:
                slot = worker.suspects[0]
                self._blame(slot, self._stream_in_use(slot), f"WorkerLost: {loss}")
            elif worker.ready:
                self._replace(worker, one_at_a_time=True)
                return
            self._replace(worker, one_at_a_time=bool(worker.suspects))

    def _enter(self, worker: L, answers: Iterable[tuple[int, bytes]]) -> None:
        for slot, data in answers:
            try:
                answer = unpickle(slot, data)
            except Exception as error:
                self._lose_answer(worker, slot, failure_of(error))
                continue
            # A slot that was brought back answers with nothing.
            if answer.result.step is not None or answer.result.failure is not None:
                self._note(answer)
                self._arrived.append(answer.result)
            if worker.suspects and slot == worker.suspects[0] and slot not in self._under_way:
                worker.suspects.popleft()
                if worker.suspects:
                    worker.send(self._todo(worker.suspects[0]))

    def _note(self, answer: Answer) -> None:
        """Write what happened in a slot into its record."""
        slot, step, _ = answer.result
        message, _ = self._under_way.pop(slot)
        record = self._records[slot]
        record.playing, record.failure = answer.playing, None
        if answer.stream is not None:
            record.stream, record.options, record.actions = answer.stream, answer.options, []
        elif isinstance(message, str):
            record.actions.append(message)
        if step is not None:
            record.observation = step.observation

    def _lose_answer(self, worker: L, slot: int, failure: Failure) -> None:
        """The answer cannot be read here: what happened in the env is not known any more."""
        _, autoreset = self._under_way[slot]
        self._under_way[slot] = Rebuild(self._stream_in_use(slot), failure), autoreset
        worker.send([(slot, *self._under_way[slot])])

    def _end_overdue(self) -> float | None:
        """Replace the workers in which a call is overdue; returns when to look again."""
        if self._limit is None or not self._under_way:
            return None
        now = time.monotonic()
        busy = {slot % len(self._links) for slot in self._under_way}
        for number in busy:
            worker = self._links[number]
            if now < worker.look_at:
                continue
            call = worker.call()
            # A call that begins later is due later than this.
            worker.look_at = now + self._limit - (call.seconds if call else 0.0)
            if call is not None and call.seconds >= self._limit:
                self._end(worker, call, timed_out(self._limit))
        return min(self._links[number].look_at for number in busy)

    def _end(self, worker: L, call: Call, cause: str) -> None:
        worker.kill()
        message = self._under_way.get(call.slot)
        # What it had answered before counts, and it may have answered in the last moment.
        with suppress(WorkerLost):
            while True:
                self._enter(worker, worker.receive())
        if self._under_way.get(call.slot) is message:
            self._blame(call.slot, call.stream, cause)
        self._replace(worker, one_at_a_time=False)

    def _blame(self, slot: int, stream: Stream, cause: str) -> None:
        """Make the loss of a worker the failure of the slot whose env was being called."""
        failure = Failure(cause, "")
        record = self._records[slot] = Record(stream)
        match self._under_way.get(slot):
            case None:
                record.failure = failure
            case Rebuild(failure=failure), _:
                # Its env kills even the worker that builds it anew: leave it, until there is another message.
                del self._under_way[slot]
                self._arrived.append(SlotResult(slot, None, failure))
            case _, autoreset:
                self._under_way[slot] = Rebuild(stream, failure), autoreset

    def _replace(self, lost: L, *, one_at_a_time: bool) -> None:
        """Bring the slots of a worker that is gone back in a new one."""
        false_starts = 0 if lost.ready else lost.false_starts + 1
        if false_starts >= MOST_FALSE_STARTS:
            raise RuntimeError("workers end before they have begun; what they printed says why")
        self._forget(lost)
        worker = self._start({slot: self._records[slot].stream for slot in lost.slots})
        worker.false_starts = false_starts
        self._links[self._links.index(lost)] = worker
        # Those that somebody waits for come first.
        slots = sorted(worker.slots, key=lambda slot: slot not in self._under_way)
        todo = [(slot, self._todo(slot)) for slot in slots]
        if one_at_a_time:
            worker.suspects.extend(slot for slot, batch in todo if batch)
            if worker.suspects:
                worker.send(self._todo(worker.suspects[0]))
        else:
            worker.send([item for _, batch in todo for item in batch])

    def _todo(self, slot: int) -> Batch:
        """What brings `slot` back to where it stood, and on with what it was to do."""
        record = self._records[slot]
        under_way = self._under_way.get(slot)
        batch: list[tuple[int, SlotMessage, Autoreset]] = []
        if (record.playing or record.failure is not None) and (under_way is None or isinstance(under_way[0], str)):
            batch.append((slot, Restore(record), "off"))
        if under_way is not None:
            batch.append((slot, *under_way))
        return batch

    def _stream_in_use(self, slot: int) -> Stream:
        """How far the stream of `slot` has come, as far as can be told without its worker."""
        record = self._records[slot]
        match self._under_way.get(slot):
            case Reset(seed=int(seed)), _:
                return Stream(seed, 0)
            case (Reset(), _) | (str(), "same_step" | "next_step") if not record.playing:
                return record.stream.next()
            case _:
                return record.stream
