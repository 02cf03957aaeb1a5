"""Envs that run in the calling thread, one after another."""

from collections import deque
from collections.abc import Mapping

from gem.vector.backend import EnvSet
from gem.vector.messages import Autoreset, SlotMessage, SlotResult
from gem.vector.slot import Slot


class SyncBackend:
    """The least overhead, and no parallelism: for envs that are quicker than a switch of threads."""

    def __init__(self, env_set: EnvSet) -> None:
        self._slots = [
            Slot(number, maker, stream, env_set.info_methods)
            for number, (maker, stream) in enumerate(zip(env_set.makers, env_set.streams, strict=True))
        ]
        self._queue: deque[tuple[Slot, SlotMessage, Autoreset]] = deque()
        self._arrived: list[SlotResult] = []

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        slots = self._slots
        self._queue.extend([(slots[slot], message, autoreset) for slot, message in messages.items()])

    def recv(self, timeout: float | None) -> list[SlotResult]:
        # After Ctrl-C, the next call goes on where this one was interrupted.
        queue, arrived = self._queue, self._arrived
        while queue:
            slot, message, autoreset = queue.popleft()
            try:
                arrived.append(slot.run(message, autoreset))
            except KeyboardInterrupt as error:
                arrived.append(slot.interrupted(error))
                raise
        results, self._arrived = self._arrived, []
        return results

    def close(self) -> None:
        for slot in self._slots:
            slot.close()
