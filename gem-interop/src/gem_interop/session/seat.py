"""The env of one session among those of `EnvThreads`."""

from gem.errors import ResetNeeded
from gem.vector.messages import SlotMessage, SlotResult
from gem_interop.session.threads import EnvThreads


class Seat:
    """A place for an env: taken before the first message, and left when the episode or the session ends."""

    def __init__(self, threads: EnvThreads) -> None:
        self._threads = threads
        self._slot: int | None = None
        self.busy = False
        """True while the env is in a call."""

    async def take(self) -> None:
        """Wait for an env that is free, unless there is one already."""
        if self._slot is None:
            self._slot = await self._threads.take()

    async def run(self, message: SlotMessage) -> SlotResult:
        """Carry out a message. A call that is cancelled leaves the seat.

        Raises:
            ResetNeeded: the seat is not taken.
            RuntimeError: the envs were closed, or the seat was left, during the call.
        """
        if self._slot is None:  # the call before was cancelled
            raise ResetNeeded("start an episode first")
        self.busy = True
        try:
            return await self._threads.run(self._slot, message)
        except BaseException:  # nobody hears the answer
            self.leave()
            raise
        finally:
            self.busy = False

    def leave(self) -> None:
        """Let another session have the place; after its call, if it is in one."""
        slot, self._slot = self._slot, None
        if slot is not None:
            self._threads.give_back(slot)

    def __del__(self) -> None:
        """A session that nobody closed, because its task raised or was cancelled between two calls."""
        self.leave()
