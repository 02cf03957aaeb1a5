"""A set of slots that live in another process: messages in, pickled answers out.

One thread runs the envs; another may feed it with `put`, and a third takes the answers with `take`. So a finished
answer leaves while a slow env is still at work, and many answers leave together when the envs are quick.
"""

import pickle
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from gem.core import Step
from gem.failure import failure_of
from gem.vector.messages import Autoreset, SeedStream, SlotMessage, SlotResult
from gem.vector.queues import drain
from gem.vector.slot import NO_SLOT, Announce, EnvSlot

Batch = Sequence[tuple[int, SlotMessage, Autoreset]]
"""Messages in the order in which they are to be carried out."""


class WorkerAnswer(NamedTuple):
    """An result, and what the record of its slot needs to know."""

    result: SlotResult
    stream: SeedStream | None
    """The seeds, if an episode began with the message."""
    options: Mapping[str, Any] | None
    playing: bool
    """Whether an episode is under way now."""


class WorkerInit(NamedTuple):
    """What a worker is started with."""

    makers: Mapping[int, bytes]
    """Slot → its pickled maker. Unpickling imports, and so may fail: that is then a failure of the slot."""
    streams: Mapping[int, SeedStream]
    info_methods: Sequence[str]


class PickledMaker:
    """A maker that is unpickled where, and each time that, it is called."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __call__(self) -> Any:
        return pickle.loads(self._data)()


class Worker:
    """Runs the slots of a `WorkerInit`.

    Args:
        init: the slots.
        announce: see `EnvSlot`; called with `NO_SLOT` when no slot is at work any more.
    """

    def __init__(self, init: WorkerInit, announce: Announce) -> None:
        self._announce = announce
        self._slots = {
            slot: EnvSlot(slot, PickledMaker(maker), init.streams[slot], init.info_methods, announce)
            for slot, maker in init.makers.items()
        }
        self._inbox: SimpleQueue[Batch | None] = SimpleQueue()
        self._outbox: SimpleQueue[tuple[int, bytes]] = SimpleQueue()
        self._closing = False

    def put(self, batch: Batch) -> None:
        """Give the slots something to do."""
        self._inbox.put(batch)

    def take(self, timeout: float | None = None) -> list[tuple[int, bytes]]:
        """The answers that are ready, pickled; waits for the first, `timeout` seconds at most."""
        return drain(self._outbox, timeout)

    def stop(self) -> None:
        """Make `run` return after the env call that is under way."""
        self._closing = True
        self._inbox.put(None)

    def run(self) -> None:
        """Carry out what is put in, until `stop`; then close the envs."""
        while (batch := self._inbox.get()) is not None:
            for slot, message, autoreset in batch:
                if self._closing:
                    break
                self._outbox.put((slot, self._answer(self._slots[slot], message, autoreset)))
                self._announce(NO_SLOT, self._slots[slot].stream)
        for slot in self._slots.values():
            slot.close()

    def _answer(self, slot: EnvSlot, message: SlotMessage, autoreset: Autoreset) -> bytes:
        before = slot.stream
        try:
            result = slot.run(message, autoreset)
        except KeyboardInterrupt as error:  # no Ctrl-C, which goes to the parent: the env's own
            result = slot.interrupted(error)
        try:
            return _pickled(slot, before, result)
        except Exception as error:
            result = slot.fail(failure_of(error), autoreset)
        try:
            return _pickled(slot, before, result)
        except Exception as error:  # the next episode begins with what cannot be pickled either
            return _pickled(slot, before, slot.fail(failure_of(error), "off"))


def _pickled(slot: EnvSlot, before: SeedStream, result: SlotResult) -> bytes:
    step = tuple(result.step) if result.step is not None else None
    stream = slot.stream if slot.stream is not before else None
    answer = step, result.failure, stream, slot.options, slot.playing
    return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)


def unpickle(slot: int, data: bytes) -> WorkerAnswer:
    """The answer of `slot`. Whatever unpickling raises is raised."""
    step, failure, stream, options, playing = pickle.loads(data)
    return WorkerAnswer(SlotResult(slot, Step(*step) if step is not None else None, failure), stream, options, playing)
