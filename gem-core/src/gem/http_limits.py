"""HTTP connections that limit the time and the bytes of a whole response; the timeout of a socket is for each read."""

import http.client
import io
import time
from typing import Any

LARGEST = 32 * 2**20
"""Most bytes of a response, headers included."""


class Limited(http.client.HTTPConnection):
    """A mixin, to be listed before `http.client.HTTPConnection` or `HTTPSConnection`.

    `timeout` is then for the whole response, from the request to the last byte; a longer one raises `TimeoutError`, one
    with more than `LARGEST` bytes `OSError`. Compressed responses are not unpacked.
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
    """A socket whose reads keep the limits of its connection."""

    def __init__(self, socket: Any, connection: Limited) -> None:
        self._socket, self._connection = socket, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def makefile(self, mode: str, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reads(self._socket, self._connection))


class _Reads(io.RawIOBase):
    def __init__(self, socket: Any, connection: Limited) -> None:
        # The file, because the socket may be closed before a response has been read.
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
