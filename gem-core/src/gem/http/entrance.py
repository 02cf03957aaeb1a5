"""The listening socket of a server on Linux, which hands over a connection once there is a request on it.

Until then a connection costs the server a few system calls, instead of a transport and a parser: thousands without a
request do not keep a client waiting that has one.
"""

import asyncio
import re
import resource
import select
import socket
import time
from collections.abc import Iterator
from typing import NamedTuple

FIRST_BYTE = 5.0
"""Seconds that a client has to begin its request, once it has connected."""
REQUEST = 30.0
"""Seconds that a client has to send it."""
_PEEK = 16 << 10
"""Bytes of a request that are waited for; of a longer one, the server reads the rest as it comes."""
_EVENTS = 512
"""Events after which the server has its turn."""
_BACKLOG = 4096
"""Connections that wait until they are accepted. A client that finds no place tries again a second later."""
_HTTP = re.compile(rb"[A-Za-z\r\n]")
_EMPTY_LINE = re.compile(rb"\n\r?\n")
"""What ends a head, and a body in chunks. Data may hold it as well: the server reads the rest then."""
_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,15})[ \t]*\r?\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\ntransfer-encoding:", re.IGNORECASE)
_AWAITS_ANSWER = re.compile(rb"\nexpect:", re.IGNORECASE)


def _most_waiting() -> int:
    """Half of the files that this process may have open, or less."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4096 if files == resource.RLIM_INFINITY else min(4096, files // 2)


MOST_WAITING = _most_waiting()
"""Most connections without a request. Of more, the oldest is ended of the address that has the most."""


class _Client(NamedTuple):
    """A connection without a request."""

    connection: socket.socket
    address: tuple[str, int]
    since: float
    """By `time.monotonic`."""


class Entrance(socket.socket):
    """A listening socket, for an event loop as any other.

    Its file is that of an epoll object, which also has the connections without a request: it is readable when a client
    has connected or sent something.

    Args:
        listening: the socket, which is detached.
    """

    def __init__(self, listening: socket.socket) -> None:
        super().__init__(fileno=listening.detach())
        self._own = super().fileno()
        self._epoll = select.epoll()
        self._epoll.register(self._own, select.EPOLLIN)
        self._waiting: dict[int, _Client] = {}
        """By file, in the order in which they came, as are those of an address."""
        self._addresses: dict[str, dict[int, None]] = {}
        self._sweep: asyncio.TimerHandle | None = None

    def fileno(self) -> int:
        return -1 if self._epoll.closed else self._epoll.fileno()

    def listen(self, backlog: int = _BACKLOG, /) -> None:
        super().listen(max(backlog, _BACKLOG))  # event loops listen again, with their own

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        """A connection with a request, and the address of its client.

        Raises:
            BlockingIOError: there is none now.
        """
        for event, mask in self._events():
            file = self._admit() if event == self._own else event
            client = self._waiting.get(file)
            sent = None if client is None else _sent(client.connection)
            if client is None or sent is None:
                continue
            if not _HTTP.match(sent):  # or it has left
                self._end(file)
            elif _is_whole(sent):
                self._epoll.unregister(file)
                self._forget(file)
                return client.connection, client.address
            elif mask & select.EPOLLRDHUP:  # it sends no more
                self._end(file)
        raise BlockingIOError

    def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
        for file in list(self._waiting):
            self._end(file)
        self._epoll.close()
        super().close()

    def _events(self) -> Iterator[tuple[int, int]]:
        """Files with something to read, and their events: one at a time, as the others stay in the epoll object."""
        for _ in range(_EVENTS):
            events = self._epoll.poll(0, 1)
            if not events:
                return
            yield events[0]

    def _admit(self) -> int:
        """The file of a client that has connected, and waits from now on."""
        connection, address = super().accept()
        connection.setblocking(False)
        file = connection.fileno()
        self._waiting[file] = _Client(connection, address, time.monotonic())
        self._addresses.setdefault(address[0], {})[file] = None
        self._epoll.register(file, select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)
        if len(self._waiting) > MOST_WAITING:
            self._end(next(iter(max(self._addresses.values(), key=len))))
        self._plan_sweep()
        return file

    def _plan_sweep(self) -> None:
        if self._sweep is None and self._waiting:
            self._sweep = asyncio.get_running_loop().call_later(FIRST_BYTE / 10, self._end_late)

    def _end_late(self) -> None:
        now = time.monotonic()
        for file, client in list(self._waiting.items()):
            age = now - client.since
            if age < FIRST_BYTE:
                break
            if age > REQUEST or not _sent(client.connection):
                self._end(file)
        self._sweep = None
        self._plan_sweep()

    def _forget(self, file: int) -> _Client:
        client = self._waiting.pop(file)
        files = self._addresses[client.address[0]]
        del files[file]
        if not files:
            del self._addresses[client.address[0]]
        return client

    def _end(self, file: int) -> None:
        self._forget(file).connection.close()


def _sent(connection: socket.socket) -> bytes | None:
    """The begin of what a client has sent, which stays to be read; None for nothing yet, empty if it has left."""
    try:
        return connection.recv(_PEEK, socket.MSG_PEEK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _is_whole(sent: bytes) -> bool:
    """Tell whether a request has been sent, as far as it is waited for."""
    end = _EMPTY_LINE.search(sent)
    if end is None:
        return len(sent) == _PEEK
    head = sent[: end.end()]
    if len(sent) == _PEEK or _AWAITS_ANSWER.search(head):
        return True
    if _CHUNKED.search(head):
        return _EMPTY_LINE.search(sent, end.end() - 1) is not None
    length = _LENGTH.search(head)
    return length is None or len(sent) >= min(_PEEK, end.end() + int(length[1]))
