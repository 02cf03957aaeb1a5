"""A lock that goes to whoever waits for it."""

from threading import Lock


class Turns:
    """A lock for two threads, as a context: one that waits gets it next, however soon the other wants it again.

    With a lock of Python alone, a thread that gives it back and takes it at once, as in a loop, keeps all others away.
    """

    def __init__(self) -> None:
        self._next, self._now = Lock(), Lock()

    def __enter__(self) -> None:
        with self._next:
            self._now.acquire()

    def __exit__(self, *_: object) -> None:
        self._now.release()
