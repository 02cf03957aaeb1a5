"""A small image, as a file."""

import struct
import zlib


def png(size: int, red: int = 0) -> bytes:
    """The file of a square image of one colour."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    pixels = (b"\0" + bytes((red, 0, 0)) * size) * size
    header = struct.pack(">2I5B", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
