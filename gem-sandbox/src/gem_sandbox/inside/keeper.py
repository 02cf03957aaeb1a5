"""The disk keeper of a slot: a process that the kernel asks before a program takes space on disk.

Linux `Documentation/userspace-api/seccomp_filter.rst`, "Userspace Notification". What the calls could take is added
up; only when the sum reaches a limit is the program stopped, to count what it really has. So no program gets past its
limits, whatever it does with its files, and one that writes none is never asked about.
"""

import fcntl
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from . import folders, usage

_NOTIFICATION = struct.Struct("=QIIiIQ6Q")  # struct seccomp_notif: id, pid, flags, number, arch, pointer, arguments
_ANSWER = struct.Struct("=QqiI")  # struct seccomp_notif_resp: id, value, error, flags
_RECEIVE, _SEND, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
_SYNCHRONOUS = 1  # the keeper runs where the program did: Linux 6.6
_CONTINUE = 1
_NAME = 8192  # bytes that a new name may take: of a folder's list, and for the thing itself
_STOPS = 10.0  # seconds in which a program stops, however busy the machine, unless it does something about that
_PAUSE = 0.0002
_TRIES, _REST = 20, 0.05  # at the end, and seconds between them
_MOST_DESCRIPTORS = 1 << 20

# What the server and the keeper tell each other, each in a place of its own: neither writes over what the other says.
_LIMITS = struct.Struct("=3Q")  # the server: which program runs, the bytes and the things that it may have
_FOUND = struct.Struct("=3Q?")  # the keeper: which program asked, what it may have taken, and whether it was ended
_FOUND_AT = 64


class Keeper:
    """The server's side: it starts the keeper, and tells it of each program.

    They share a page, which no program has. What the keeper knows about one program is nowhere in the copy of the
    server that the next program gets.

    Args:
        top: The folder that holds everything of this slot. The keeper removes it at the end.
        folder: The folder of a program, in `top`.
        left: A folder, in `top`, of what programs have left.
        kinds: What each call that is asked about does, by its number.
    """

    def __init__(self, top: str, folder: str, left: str, kinds: Mapping[int, str]) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE)
        self._number = 0
        self._tell, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.closerange(3, theirs.fileno())
                os.closerange(theirs.fileno() + 1, _MOST_DESCRIPTORS)
                try:
                    _Books(self._page, folder, left, kinds, server).keep(theirs)
                finally:
                    _remove(top)
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
        self._number = int.from_bytes(os.urandom(8), sys.byteorder)  # which does not tell how many came before
        _LIMITS.pack_into(self._page, 0, self._number, job["disk"], job["inodes"])

    def keeps(self, job: Mapping[str, Any]) -> bool | None:
        """Tell whether the program has kept to its limits. None: the last call may have got it over them, or not."""
        number, size, things, ended = _FOUND.unpack_from(self._page, _FOUND_AT)
        if number != self._number:  # it asked for nothing
            return True
        return False if ended else True if size <= job["disk"] and things <= job["inodes"] else None

    def remove(self, name: str) -> None:
        """Have the keeper remove the folder `name` of the folder `left`."""
        with suppress(ConnectionError):  # it has ended, and so will the server
            self._tell.send(name.encode())

    def end(self) -> None:
        """End the keeper, which this process may not signal: its rules forbid that."""
        self._tell.close()
        os.waitpid(self.pid, 0)


def _remove(top: str) -> None:
    """Remove a folder in which a program may still be about to end, and make things until then."""
    for _ in range(_TRIES):
        with suppress(OSError):
            folders.remove(top)
            return
        time.sleep(_REST)


class _Books:
    """The keeper's side."""

    def __init__(self, page: mmap.mmap, folder: str, left: str, kinds: Mapping[int, str], server: int) -> None:
        self._page = page
        self._folder, self._left, self._kinds, self._server = folder, left, kinds, server
        self._removals: deque[Iterator[None]] = deque()
        self._number = self._disk = self._inodes = self._size = self._things = 0
        self._maps = self._granted = False

    def keep(self, channel: socket.socket) -> None:
        """Answer questions until the server has ended, which closes its end of `channel`; in between, remove things."""
        _, fds, _, _ = socket.recv_fds(channel, 16, 1)
        if not fds:
            return
        (listener,) = fds
        with suppress(OSError):
            fcntl.ioctl(listener, _SET_FLAGS, _SYNCHRONOUS)
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(channel, select.POLLIN)
        while True:
            for fd, events in poll.poll(0 if self._removals else None):
                if fd == channel.fileno():
                    name = channel.recv(64).decode()
                    if not name:
                        return
                    self._removals.append(folders.removing(f"{self._left}/{name}"))
                elif events & select.POLLIN:
                    self._answer(listener)
                else:  # everybody who could ask has ended
                    return
            # A step for each question, so that no program that asks without end keeps what others have left on disk.
            self._remove_some()

    def _remove_some(self) -> None:
        if self._removals:
            try:
                next(self._removals[0])
            except (StopIteration, OSError):  # what cannot be removed waits for the end
                self._removals.popleft()

    def _answer(self, listener: int) -> None:
        try:
            asked = fcntl.ioctl(listener, _RECEIVE, bytes(_NOTIFICATION.size))
        except FileNotFoundError:  # the thread that asked was interrupted, and asks again
            return
        number, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(asked)
        if pid == self._server or self._allows(pid, self._kinds[call], arguments):
            with suppress(FileNotFoundError):
                fcntl.ioctl(listener, _SEND, _ANSWER.pack(number, 0, 0, _CONTINUE))

    def _allows(self, thread: int, kind: str, arguments: list[int]) -> bool:
        """Decide on a call. Where it is not to be made, the program has ended, or is interrupted and asks again."""
        number, disk, inodes = _LIMITS.unpack_from(self._page)
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
        _FOUND.pack_into(self._page, _FOUND_AT, self._number, size, things, ended)

    def _look(self, thread: int) -> None:
        """Stop the program and count what it has. It resumes and asks again, unless that is more than it may have.

        A program that ends meanwhile was granted nothing more, and is left alone.
        """
        with suppress(FileNotFoundError, ProcessLookupError):
            pid = usage.process_of(thread)
            program = os.pidfd_open(pid)  # its number may soon be that of another
            try:
                signal.pidfd_send_signal(program, signal.SIGSTOP)
                then = signal.SIGCONT
                with suppress(FileNotFoundError, ProcessLookupError):
                    then = signal.SIGCONT if self._fits(pid, thread) else signal.SIGKILL
                signal.pidfd_send_signal(program, then)
            finally:
                os.close(program)

    def _fits(self, pid: int, thread: int) -> bool:
        """Tell whether what a program has, once it has stopped, is within its limits. What is unknown is not."""
        try:
            end = time.monotonic() + _STOPS
            while not usage.has_stopped(pid):
                if time.monotonic() > end:
                    raise usage.Unknown("the program does not stop")
                time.sleep(_PAUSE)
            # By the thread: of a process whose first thread has ended, nothing can be seen.
            things, size = usage.used(self._folder, (thread,), self._inodes)
        except (FileNotFoundError, ProcessLookupError):
            raise
        except OSError:
            things, size = self._inodes + 1, self._disk + 1
        self._granted = things <= self._inodes and size <= self._disk
        self._note(things, size, not self._granted)
        return self._granted
