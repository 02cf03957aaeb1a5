"""Messages over a socket: each is its length in eight bytes, and then itself."""

import struct

_LENGTH = struct.Struct("<Q")
LENGTH_BYTES = _LENGTH.size


def frame(data: bytes) -> bytes:
    """`data` as it goes over the wire."""
    return _LENGTH.pack(len(data)) + data


def length(header: bytes | bytearray) -> int:
    """The length that a frame's first eight bytes announce."""
    return _LENGTH.unpack_from(header)[0]


class Frames:
    """Cuts a stream of bytes into the messages that were sent."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Add what came in; returns the messages that are now complete."""
        self._buffer += data
        messages: list[bytes] = []
        start = 0
        while len(self._buffer) - start >= LENGTH_BYTES:
            end = start + LENGTH_BYTES + length(self._buffer[start : start + LENGTH_BYTES])
            if len(self._buffer) < end:
                break
            messages.append(bytes(self._buffer[start + LENGTH_BYTES : end]))
            start = end
        del self._buffer[:start]
        return messages
