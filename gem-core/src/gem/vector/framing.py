"""Framing of messages on a socket: the length in eight bytes, then the message."""

import struct

_LENGTH = struct.Struct("<Q")
LENGTH_BYTES = _LENGTH.size


def frame(data: bytes) -> bytes:
    """`data` with its length in front."""
    return _LENGTH.pack(len(data)) + data


def length(header: bytes | bytearray) -> int:
    """The length in the first eight bytes of a frame."""
    return _LENGTH.unpack_from(header)[0]


class Frames:
    """Splits a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Add received bytes; returns the messages that are complete now."""
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
