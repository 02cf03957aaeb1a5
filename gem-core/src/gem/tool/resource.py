"""State of an episode that tools share: a notebook, a browser, a session with a server."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import Generic, TypeVar

from gem.errors import SnapshotError

State = TypeVar("State")


class Resource(ABC, Generic[State]):
    """A kind of state that tools share: opening and closing it.

    The first call of an episode that needs the state opens it, and all tools with this resource share it. When the
    episode is over (ended, failed, reset early, or its env closed or garbage-collected), the state is renewed for
    another episode or closed.

    Every method may be `async`; such methods run in the runtime's event loop, the others in threads.

    Example: a folder that the tools of an episode share.

    ```python
    class Folder(Resource[Path]):
        def open(self):
            return Path(tempfile.mkdtemp())

        def close(self, state):
            shutil.rmtree(state)
    ```
    """

    @abstractmethod
    def open(self) -> State | Awaitable[State]:
        """A new state, equal for every episode."""

    @abstractmethod
    def close(self, state: State) -> Awaitable[None] | None:
        """Release what `state` holds. A call that timed out may still be using it."""

    def renew(self, state: State) -> bool | Awaitable[bool]:
        """Reset a used state for another episode. False if that is not possible: it is then closed."""
        return False

    def snapshot(self, state: State) -> bytes | Awaitable[bytes]:
        """The state as bytes for `restore`."""
        raise SnapshotError(f"{type(self).__name__} does not support snapshots; define its snapshot() and restore()")

    def restore(self, state: State, saved: bytes) -> Awaitable[None] | None:
        """Bring a state that was just opened to the one that `saved` was taken from."""
        raise SnapshotError(f"{type(self).__name__} does not support snapshots; define its snapshot() and restore()")
