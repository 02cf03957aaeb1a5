"""Shared memory in which a worker process states which env it is calling, for its parent to read."""

import mmap
import os
import struct
import time
from typing import NamedTuple

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
        file: the descriptor of a file, at first an empty one, open for reading and writing.
    """

    def __init__(self, file: int) -> None:
        os.ftruncate(file, 2 * _RECORD.size)
        self._memory = mmap.mmap(file, 2 * _RECORD.size)

    def announce(self, slot: int, stream: SeedStream) -> None:
        """State that a call of the env of `slot` begins; with `NO_SLOT`, that no call is running."""
        # Without a call, a number of 0, as in an empty file. Not `pack_into`, which writes zeros first.
        record = _RECORD.pack(slot - NO_SLOT, stream.base, stream.number, time.monotonic())
        self._memory[: _RECORD.size] = record
        self._memory[_RECORD.size :] = record

    def call(self) -> EnvCall | None:
        """The running call; None if there is none, or if it is being written."""
        second = self._memory[_RECORD.size :]
        if self._memory[: _RECORD.size] != second:
            return None
        slot, base, number, since = _RECORD.unpack(second)
        return EnvCall(slot + NO_SLOT, SeedStream(base, number), time.monotonic() - since) if slot else None

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()
