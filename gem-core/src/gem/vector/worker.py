"""The slots of a worker: messages in, pickled answers out.

One thread runs the envs, one may call `put` and one `take`, so that an answer leaves while another env is running.
"""

import pickle
from collections.abc import Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from gem import roles
from gem.core import Env, Step
from gem.errors import failure_of
from gem.roles import Asked, Roles
from gem.vector.messages import Autoreset, SeedStream, SlotMessage, SlotResult
from gem.vector.slot import NO_SLOT, Announce, EnvSlot
from gem.work.threads import drain

Batch = Sequence[tuple[int, SlotMessage, Autoreset]]
"""Messages, to be carried out in this order."""


class WorkerAnswer(NamedTuple):
    """A result, and what the parent's log of the slot needs."""

    result: SlotResult
    stream: SeedStream | None
    """The seed stream, if the message started an episode."""
    options: Mapping[str, Any] | None
    playing: bool
    """True while an episode is running."""
    asked: Mapping[str, Asked]
    """What roles have been asked for since the answer before."""


class WorkerInit(NamedTuple):
    """The arguments of a worker."""

    makers: Mapping[int, bytes]
    """Slot → its pickled maker; if unpickling fails, that is a failure of the slot."""
    streams: Mapping[int, SeedStream]
    info_methods: Sequence[str]
    roles: bytes | None = None
    """The pickled settings of roles, if any are set."""


class Worker:
    """Runs the slots of a `WorkerInit`; `announce` as in `EnvSlot`, and with `NO_SLOT` after each message."""

    def __init__(self, init: WorkerInit, announce: Announce) -> None:
        self._announce = announce
        self._roles = Roles(pickle.loads(init.roles), in_worker=True) if init.roles else None
        if self._roles is not None:
            roles.use(self._roles)
        self._slots = {
            slot: EnvSlot(slot, partial(_made, maker), init.streams[slot], init.info_methods, announce)
            for slot, maker in init.makers.items()
        }
        self._inbox: SimpleQueue[Batch | None] = SimpleQueue()
        self._outbox: SimpleQueue[tuple[int, bytes]] = SimpleQueue()
        self._closing = False

    def put(self, batch: Batch) -> None:
        """Send messages to the slots."""
        self._inbox.put(batch)

    def take(self, timeout: float | None = None) -> list[tuple[int, bytes]]:
        """The pickled answers that are ready; waits up to `timeout` seconds for the first."""
        return drain(self._outbox, timeout)

    def stop(self) -> None:
        """Make `run` return after the running call of an env."""
        self._closing = True
        self._inbox.put(None)

    def run(self) -> None:
        """Carry out messages until `stop`; then close the envs."""
        while (batch := self._inbox.get()) is not None:
            for slot, message, autoreset in batch:
                if self._closing:
                    break
                self._outbox.put((slot, self._answer(self._slots[slot], message, autoreset)))
                self._announce(NO_SLOT, self._slots[slot].stream)
        for slot in self._slots.values():
            slot.close()
        if self._roles is not None:
            self._roles.close()

    def _answer(self, slot: EnvSlot, message: SlotMessage, autoreset: Autoreset) -> bytes:
        before = slot.stream
        try:
            result = slot.run(message, autoreset)
        except KeyboardInterrupt as error:  # raised by the env: Ctrl-C goes to the parent
            result = slot.interrupted(error)
        try:
            return self._pickled(slot, before, result)
        except Exception as error:
            result = slot.fail(failure_of(error), autoreset)
        try:
            return self._pickled(slot, before, result)
        except Exception as error:  # nor can the first result of the next episode
            return self._pickled(slot, before, slot.fail(failure_of(error), "off"))

    def _pickled(self, slot: EnvSlot, before: SeedStream, result: SlotResult) -> bytes:
        step = tuple(result.step) if result.step is not None else None
        stream = slot.stream if slot.stream is not before else None
        asked = self._roles.take() if self._roles is not None else {}
        answer = step, result.failure, stream, slot.options, slot.playing, asked
        try:
            return pickle.dumps(answer, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception:
            if self._roles is not None:  # what was used is said with another answer
                self._roles.count(asked)
            raise


def _made(maker: bytes) -> Env:
    return pickle.loads(maker)()


def unpickle(slot: int, data: bytes) -> WorkerAnswer:
    """The answer of `slot`; raises what unpickling raises."""
    step, failure, stream, options, playing, asked = pickle.loads(data)
    result = SlotResult(slot, Step(*step) if step is not None else None, failure)
    return WorkerAnswer(result, stream, options, playing, asked)
