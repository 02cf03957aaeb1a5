"""Envs that run in the calling thread, one after another."""

from collections import deque
from collections.abc import Mapping

from gem.vector.backends.backend import Crew
from gem.vector.messages import Arrival, Autoreset, Message
from gem.vector.slot import Slot


class SyncBackend:
    """The least overhead, and no parallelism: for envs that are quicker than a switch of threads."""

    def __init__(self, crew: Crew) -> None:
        self._slots = [
            Slot(number, maker, stream, crew.hints)
            for number, (maker, stream) in enumerate(zip(crew.makers, crew.streams, strict=True))
        ]
        self._queue: deque[tuple[Slot, Message, Autoreset]] = deque()
        self._arrived: list[Arrival] = []

    def send(self, messages: Mapping[int, Message], autoreset: Autoreset) -> None:
        slots = self._slots
        self._queue.extend([(slots[slot], message, autoreset) for slot, message in messages.items()])

    def recv(self, timeout: float | None) -> list[Arrival]:
        # After Ctrl-C, the next call goes on where this one was interrupted.
        queue, arrived = self._queue, self._arrived
        while queue:
            slot, message, autoreset = queue.popleft()
            try:
                arrived.append(slot.run(message, autoreset))
            except KeyboardInterrupt as error:
                arrived.append(slot.interrupted(error))
                raise
        arrivals, self._arrived = self._arrived, []
        return arrivals

    def close(self) -> None:
        for slot in self._slots:
            slot.close()
