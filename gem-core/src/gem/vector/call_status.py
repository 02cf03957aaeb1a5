"""The status of shared memory on which a worker process says which env it is calling, for its parent to read."""

import mmap
import struct
import time
from typing import IO, NamedTuple

from gem.vector.messages import SeedStream
from gem.vector.slot import NO_SLOT

_NOTE = struct.Struct("<qqqd")


class EnvCall(NamedTuple):
    """The call of an env that is under way in a worker."""

    slot: int
    stream: SeedStream
    seconds: float
    """Since it began."""


class CallStatus:
    """One process writes and one reads, without a lock.

    A note is written twice. Whoever reads the second copy first and finds the two equal has read a whole one; a
    writer that was interrupted in the middle, for however long, leaves them different.

    Args:
        file: one that was prepared, open for reading and writing.
    """

    def __init__(self, file: IO[bytes] | int) -> None:
        fd = file if isinstance(file, int) else file.fileno()
        self._memory = mmap.mmap(fd, 2 * _NOTE.size)

    @staticmethod
    def prepare(file: IO[bytes]) -> None:
        """Write into an empty file that no env is being called."""
        file.write(_NOTE.pack(NO_SLOT, 0, 0, 0.0) * 2)
        file.flush()

    def announce(self, slot: int, stream: SeedStream) -> None:
        """Say that the env of `slot` is called from now on, or with `NO_SLOT` that none is."""
        # Packed first: `pack_into` fills the place with zeros before it writes.
        note = _NOTE.pack(slot, stream.base, stream.number, time.monotonic())
        self._memory[: _NOTE.size] = note
        self._memory[_NOTE.size :] = note

    def call(self) -> EnvCall | None:
        """The call that is under way; None if there is none, or if one is just being announced."""
        second = self._memory[_NOTE.size :]
        if self._memory[: _NOTE.size] != second:
            return None
        slot, base, number, since = _NOTE.unpack(second)
        return None if slot == NO_SLOT else EnvCall(slot, SeedStream(base, number), time.monotonic() - since)

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()
