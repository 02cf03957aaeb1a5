"""Watching what a process touches: addresses that it asks for, which it does not reach, and files that it writes."""

import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PASSING = (tempfile.gettempdir(), "/dev", "/proc", "/sys", "/run")
"""Folders whose files do not stay."""
_CACHES = {".cache", "__pycache__"}
_HERE = {"", "localhost", "localhost.localdomain", "::1", "0.0.0.0", "::", "elsewhere", socket.gethostname()}


class Watch:
    """A record of what this process touches, for the rest of its life: an audit hook of Python cannot be removed.

    Args:
        folder: a temporary folder in which files count as written, because it stands for the home or working folder.
    """

    def __init__(self, folder: str) -> None:
        self.connections: set[str] = set()
        self.written: set[str] = set()
        self._folder = os.path.realpath(folder)
        sys.addaudithook(self._see)

    def _see(self, event: str, given: tuple[Any, ...]) -> None:
        if event in ("socket.getaddrinfo", "socket.gethostbyname"):
            self._refuse(given[0])
        elif event in ("socket.connect", "socket.sendto"):
            address: object = given[1]
            if isinstance(address, tuple):  # of the internet; those of Unix are paths
                self._refuse(cast("tuple[object, ...]", address)[0])
        elif event == "open":
            path, _, flags = given
            if not isinstance(path, int) and isinstance(flags, int) and flags & _WRITING:
                self._note(path)

    def _refuse(self, host: object) -> None:
        name = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "")
        if name not in _HERE and not name.startswith("127."):
            self.connections.add(name)
            raise ConnectionRefusedError(f"the audit refuses connections, such as that to {name}")

    def _note(self, given: Any) -> None:
        path = os.path.realpath(os.fsdecode(given))
        shown = os.path.relpath(path, self._folder) if Path(path).is_relative_to(self._folder) else ""
        if _CACHES & {*Path(path).parts}:
            return
        if shown:
            self.written.add(f"{'~' if shown.startswith('home') else '.'}/{shown.partition('/')[2]}")
        elif not any(Path(path).is_relative_to(os.path.realpath(each)) for each in _PASSING):
            self.written.add(path)
