"""Messages between two processes: on a socket, the length in eight bytes and then the message."""

import asyncio
import socket
import struct
import time
from contextlib import suppress

from gem.work.lifetime import after_fork

_LENGTH = struct.Struct("<Q")
_MOST_BYTES = 1 << 16
"""Most bytes that are received at once: room for more is taken from the system anew each time, for 15 µs."""


def frame(data: bytes) -> bytes:
    """`data` with its length in front."""
    return _LENGTH.pack(len(data)) + data


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """The next message of a stream. Raises `asyncio.IncompleteReadError` if it ends before."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return await reader.readexactly(length)


class Ended(Exception):
    """The process at the other end has ended, or has closed its end."""


class Channel:
    """One end of a connected socket, which it owns, for whole messages. A forked child has neither end."""

    def __init__(self, connection: socket.socket) -> None:
        connection.set_inheritable(False)  # programs that this process starts must not keep it open
        self.socket = connection
        self._buffer = bytearray()
        self._messages: list[bytes] = []
        after_fork(self.close)

    def send(self, message: bytes, seconds: float | None = None) -> None:
        """Send a message. Raises `Ended` if nobody reads it, or not within `seconds`."""
        try:
            self.socket.settimeout(seconds)
            self.socket.sendall(frame(message))
        except OSError as error:
            raise Ended from error

    def receive(self, until: float | None = None) -> bytes:
        """The next message. Raises `TimeoutError` at `until`, by `time.monotonic`, and `Ended` if none can come."""
        while not self._messages:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self._read(left)
        return self._messages.pop(0)

    def receive_ready(self) -> list[bytes]:
        """The messages that have arrived. Raises `Ended` if none can come."""
        with suppress(BlockingIOError):
            self._read(0.0)
        messages, self._messages = self._messages, []
        return messages

    def _read(self, seconds: float | None) -> None:
        """Receive the next bytes, and split off the messages that are complete with them."""
        try:
            if self.socket.gettimeout() != seconds:
                self.socket.settimeout(seconds)
            data = self.socket.recv(_MOST_BYTES)
        except (BlockingIOError, TimeoutError):
            raise
        except ConnectionResetError:  # earlier data can still be read
            return
        except OSError as error:
            raise Ended from error
        if not data:
            raise Ended
        self._buffer += data
        start = 0
        while len(self._buffer) >= (begin := start + _LENGTH.size):
            end = begin + _LENGTH.unpack_from(self._buffer, start)[0]
            if len(self._buffer) < end:
                break
            self._messages.append(bytes(self._buffer[begin:end]))
            start = end
        del self._buffer[:start]

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
