"""Envs that run in the calling thread, one after another."""

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
        self._queue: list[tuple[Mapping[int, Message], Autoreset]] = []

    def send(self, messages: Mapping[int, Message], autoreset: Autoreset) -> None:
        self._queue.append((dict(messages), autoreset))

    def recv(self, timeout: float | None) -> list[Arrival]:
        queue, self._queue = self._queue, []
        slots = self._slots
        return [
            slots[slot].run(message, autoreset) for messages, autoreset in queue for slot, message in messages.items()
        ]

    def close(self) -> None:
        for slot in self._slots:
            slot.close()
