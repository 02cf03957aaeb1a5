"""Envs in the calling thread, one after another."""

from collections import deque
from collections.abc import Mapping

from gem.vector.backend import EnvSet
from gem.vector.messages import Autoreset, SlotMessage, SlotResult
from gem.vector.slot import EnvSlot


class SyncBackend:
    """The least overhead, and no parallelism: for envs that are quicker than a thread switch."""

    def __init__(self, env_set: EnvSet) -> None:
        self._slots = [
            EnvSlot(number, maker, stream, env_set.info_methods)
            for number, (maker, stream) in enumerate(zip(env_set.makers, env_set.streams, strict=True))
        ]
        self._queue: deque[tuple[EnvSlot, SlotMessage, Autoreset]] = deque()
        self._results: list[SlotResult] = []

    @property
    def independent(self) -> bool:
        return len(self._slots) == 1

    def share_capacities(self) -> None:
        pass  # they are in this process

    def send(self, messages: Mapping[int, SlotMessage], autoreset: Autoreset) -> None:
        slots = self._slots
        self._queue.extend([(slots[slot], message, autoreset) for slot, message in messages.items()])

    def recv(self, timeout: float | None) -> list[SlotResult]:
        # After Ctrl-C, the next call resumes here.
        queue, arrived = self._queue, self._results
        while queue:
            slot, message, autoreset = queue.popleft()
            try:
                arrived.append(slot.run(message, autoreset))
            except KeyboardInterrupt as error:
                arrived.append(slot.interrupted(error))
                raise
        results, self._results = self._results, []
        return results

    def close(self) -> None:
        for slot in self._slots:
            slot.close()
