"""Shared memory in which a worker process states which env it is calling, for its parent to read."""

import mmap
import struct
import time
from typing import IO, NamedTuple

from gem.vector.messages import SeedStream
from gem.vector.slot import NO_SLOT

_RECORD = struct.Struct("<qqqd")


class EnvCall(NamedTuple):
    """A running call of an env in a worker."""

    slot: int
    stream: SeedStream
    seconds: float
    """Seconds since its start."""


class CallStatus:
    """A record that one process writes and another reads, without a lock.

    The record is written twice. A reader reads the second copy first: if both are equal, the record is complete.

    Args:
        file: a prepared file, open for reading and writing.
    """

    def __init__(self, file: IO[bytes] | int) -> None:
        fd = file if isinstance(file, int) else file.fileno()
        self._memory = mmap.mmap(fd, 2 * _RECORD.size)

    @staticmethod
    def prepare(file: IO[bytes]) -> None:
        """Initialise an empty file: no env is being called."""
        file.write(_RECORD.pack(NO_SLOT, 0, 0, 0.0) * 2)
        file.flush()

    def announce(self, slot: int, stream: SeedStream) -> None:
        """State that a call of the env of `slot` begins; with `NO_SLOT`, that no call is running."""
        # Not `pack_into`, which writes zeros first.
        record = _RECORD.pack(slot, stream.base, stream.number, time.monotonic())
        self._memory[: _RECORD.size] = record
        self._memory[_RECORD.size :] = record

    def call(self) -> EnvCall | None:
        """The running call; None if there is none, or if it is being written."""
        second = self._memory[_RECORD.size :]
        if self._memory[: _RECORD.size] != second:
            return None
        slot, base, number, since = _RECORD.unpack(second)
        return None if slot == NO_SLOT else EnvCall(slot, SeedStream(base, number), time.monotonic() - since)

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()
