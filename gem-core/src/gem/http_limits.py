"""HTTP connections whose answers have a limit on time and on bytes.

A timeout of a socket is for each read, so a server that sends a byte now and then keeps its client for ever.
"""

import http.client
import io
import time
from typing import Any

LARGEST = 32 * 2**20
"""Bytes of an answer, its head included."""


class Limited(http.client.HTTPConnection):
    """To stand before `http.client.HTTPConnection` or a class of its kind, among the bases of a class.

    `timeout` is then for a whole answer, from the request to its last byte. One that takes longer raises
    `TimeoutError`, and one that is larger than `LARGEST` raises `OSError`. Nothing here unpacks what is compressed.
    """

    until = float("inf")
    left = 0

    def connect(self) -> None:
        super().connect()
        self.sock: Any = _Timed(self.sock, self)

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        self.until = time.monotonic() + self.timeout if isinstance(self.timeout, int | float) else float("inf")
        self.left = LARGEST
        super().putrequest(*args, **kwargs)


class _Timed:
    """A socket that is read within the limits of its connection."""

    def __init__(self, socket: Any, connection: Limited) -> None:
        self._socket, self._connection = socket, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def makefile(self, mode: str, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reads(self._socket, self._connection))


class _Reads(io.RawIOBase):
    def __init__(self, socket: Any, connection: Limited) -> None:
        # The file, and not the socket, because the socket may be closed while an answer is still read.
        self._socket, self._file, self._connection = socket, socket.makefile("rb", buffering=0), connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        left = self._connection.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        if self._connection.left <= 0:
            raise OSError(f"the answer has more than {LARGEST} bytes")
        self._socket.settimeout(None if left == float("inf") else left)
        read: int | None = self._file.readinto(buffer)
        self._connection.left -= read or 0
        return read

    def close(self) -> None:
        self._file.close()
        super().close()
