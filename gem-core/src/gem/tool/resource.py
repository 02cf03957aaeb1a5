"""State that belongs to an episode: a notebook, a browser, a conversation with a server."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable
from typing import Generic, TypeVar

from gem.errors import SnapshotError

State = TypeVar("State")


class Resource(ABC, Generic[State]):
    """How a tool's state is opened and given back.

    The first call of an episode that needs it opens it, all tools with this resource share it, and it is given back
    whenever the episode is over: ended, failed, reset in the middle, or its env closed or dropped.

    Every method may be `async`; those run in the runtime's event loop, the others in a thread of its own.

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
        """A new state, as every episode finds it."""

    @abstractmethod
    def close(self, state: State) -> Awaitable[None] | None:
        """Give back what `state` holds. A call on it that timed out may still be under way."""

    def renew(self, state: State) -> bool | Awaitable[bool]:
        """Make a used state as new for another episode. False where that cannot be done: it is closed then."""
        return False

    def snapshot(self, state: State) -> bytes | Awaitable[bytes]:
        """The state as bytes for `restore`."""
        raise SnapshotError(f"{type(self).__name__} takes no snapshots; write its snapshot() and restore()")

    def restore(self, state: State, saved: bytes) -> Awaitable[None] | None:
        """Bring a state that was just opened to where `saved` was taken."""
        raise SnapshotError(f"{type(self).__name__} restores no snapshots; write its snapshot() and restore()")
