"""The keeper of a slot's disk: a process that the kernel asks before a program takes room on it.

Linux `Documentation/userspace-api/seccomp_filter.rst`, "Userspace Notification". What the calls could take is added
up, and only when the sum comes to a limit is the program stopped, and what it has counted. So no program gets past its
limits, whatever it does with its files, and one that writes none is never asked about.
"""

import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from . import usage

_NOTIFICATION = struct.Struct("=QIIiIQ6Q")  # struct seccomp_notif: id, pid, flags, number, arch, pointer, arguments
_ANSWER = struct.Struct("=QqiI")  # struct seccomp_notif_resp: id, value, error, flags
_RECEIVE, _SEND, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_SYNCHRONOUS = 1  # the keeper runs where the program did: Linux 6.6
_CONTINUE = 1
_NAME = 8192  # bytes that a new name may take: of a folder's list, and for the thing itself
_STOPS = 1.0  # seconds in which a program stops, unless it does something about that
_PAUSE = 0.0002
_MOST_DESCRIPTORS = 1 << 20

_SHARED = struct.Struct("=6Q")  # what the server and the keeper tell each other: see `Keeper`


class Keeper:
    """The server's side: it starts the keeper, and tells it of each program.

    They share a page: the number of the program, its limits `disk` and `inodes`, and then, from the keeper, the bytes
    and the things that it may have, and whether the keeper has ended it. No program has that page.

    Args:
        kinds: What each call that is asked about does, by its number.
    """

    def __init__(self, folder: str, kinds: Mapping[int, str]) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._number = 0
        self._tell, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.closerange(3, theirs.fileno())
                os.closerange(theirs.fileno() + 1, _MOST_DESCRIPTORS)
                _Books(self._page, folder, kinds, server).keep(theirs)
            finally:
                os._exit(0)
        theirs.close()
        self._page.madvise(mmap.MADV_DONTFORK)

    def ask(self, listener: int) -> None:
        """Have the keeper answer what comes from the descriptor `listener`."""
        socket.send_fds(self._tell, [b"?"], [listener])
        os.close(listener)

    def open(self, job: Mapping[str, Any]) -> None:
        """A new program begins."""
        self._number += 1
        _SHARED.pack_into(self._page, 0, self._number, job["disk"], job["inodes"], 0, 0, 0)

    def keeps(self) -> bool | None:
        """Whether the program has kept to its limits. None: it may have got over them with the last call, or not."""
        _, disk, inodes, size, things, ended = _SHARED.unpack_from(self._page)
        return False if ended else True if size <= disk and things <= inodes else None

    def end(self) -> None:
        """End the keeper, which this process may not signal: its rules forbid that."""
        self._tell.close()
        os.waitpid(self.pid, 0)


class _Books:
    """The keeper's side."""

    def __init__(self, page: mmap.mmap, folder: str, kinds: Mapping[int, str], server: int) -> None:
        self._page = page
        self._folder, self._kinds, self._server = folder, kinds, server
        self._number = self._disk = self._inodes = self._size = self._things = 0
        self._maps = self._granted = False

    def keep(self, told: socket.socket) -> None:
        """Answer questions until the server has ended, which closes its end of `told`."""
        _, fds, _, _ = socket.recv_fds(told, 16, 1)
        if not fds:
            return
        (listener,) = fds
        with suppress(OSError):
            fcntl.ioctl(listener, _SET_FLAGS, _SYNCHRONOUS)
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(told, select.POLLIN)
        while all(fd == listener for fd, _ in poll.poll()):
            try:
                asked = fcntl.ioctl(listener, _RECEIVE, bytes(_NOTIFICATION.size))
            except FileNotFoundError:  # whoever asked was interrupted, and asks again
                continue
            number, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(asked)
            if pid == self._server or self._allows(pid, self._kinds[call], arguments):
                with suppress(FileNotFoundError):
                    fcntl.ioctl(listener, _SEND, _ANSWER.pack(number, 0, 0, _CONTINUE))

    def _allows(self, thread: int, kind: str, arguments: list[int]) -> bool:
        """Whether a call is to be made. Where it is not, the program has ended, or is interrupted and asks again."""
        number, disk, inodes, *_ = _SHARED.unpack_from(self._page)
        if number != self._number:
            self._number, self._disk, self._inodes, self._size, self._things = number, disk, inodes, 0, 0
            self._maps = self._granted = False
        size, things = self._taken(kind, arguments)
        if not self._granted and (self._size + size > disk or self._things + things > inodes):
            self._look(thread)
            return False
        self._granted = False
        self._note(self._things + things, self._size + size)
        return True

    def _taken(self, kind: str, arguments: list[int]) -> tuple[int, int]:
        """Bytes, and files and folders, that a call may take at most."""
        unknown = self._disk + 1
        if kind == "name":
            return _NAME, 1
        if kind == "length":
            return min(arguments[1], unknown), 0
        if kind == "map":
            self._maps = True
        if kind == "write" and not self._maps:
            return min(arguments[2], unknown), 0
        return unknown, 0

    def _note(self, things: int, size: int, ended: bool = False) -> None:
        self._things, self._size = things, size
        _SHARED.pack_into(self._page, 0, self._number, self._disk, self._inodes, size, things, ended)

    def _look(self, thread: int) -> None:
        """Stop the program and count what it has. It goes on, and asks again, unless that is more than it may have."""
        try:
            pid = usage.process_of(thread)
            os.kill(pid, signal.SIGSTOP)
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            return
        try:
            end = time.monotonic() + _STOPS
            while not usage.has_stopped(pid):
                if time.monotonic() > end:
                    raise usage.Unknown("the program does not stop")
                time.sleep(_PAUSE)
            # By the thread: of a process whose first thread has ended, nothing can be seen.
            things, size = usage.used(self._folder, (thread,), self._inodes)
        except OSError:
            things, size = self._inodes + 1, self._disk + 1
        self._granted = things <= self._inodes and size <= self._disk
        self._note(things, size, not self._granted)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT if self._granted else signal.SIGKILL)
