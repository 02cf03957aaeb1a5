"""A seat is the env of one session, which is built, called and closed in threads of the vector engine."""

from collections.abc import Mapping
from typing import Any

from gem.core import Env, Info, Observation, Step
from gem.errors import ResetNeeded
from gem.session.threads import EnvThreads
from gem.vector.messages import Maker, Reset, SlotMessage, SlotResult

_LEAVE = Reset(0, {"id": None, "options": None})


class _ChosenEnv(Env):
    """An env of the id that the options of its reset name; the one before is closed.

    So a session never meets what another one has left behind: neither an env nor its progress.

    Args:
        makers: id → maker of its env.
    """

    def __init__(self, makers: Mapping[str, Maker]) -> None:
        self._makers = makers
        self._id: str | None = None
        self._env: Env | None = None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        assert options is not None
        id: str | None = options["id"]
        if id != self._id:
            self.close()
            if id is not None:
                self._env = self._makers[id]()
            self._id = id
        if self._env is None:
            return "", {}
        return self._env.reset(seed=seed, options=options["options"])

    def step(self, action: str) -> Step:
        if self._env is None:
            raise ResetNeeded("an env is chosen by a reset")
        return self._env.step(action)

    def sample_action(self) -> str:
        raise NotImplementedError("an env that is served is played by its client")

    def close(self) -> None:
        env, self._env, self._id = self._env, None, None
        if env is not None:
            env.close()


class Seat:
    """The env of one session, or the place for it."""

    def __init__(self, threads: EnvThreads, slot: int) -> None:
        self._threads, self._slot = threads, slot
        self.busy = False
        """Whether the env is in a call; it stays so if nobody waits for the answer any more."""

    async def reset(self, id: str, seed: int, options: Mapping[str, Any] | None) -> SlotResult:
        """Start an episode; a failure is in the result."""
        return await self._run(Reset(seed, {"id": id, "options": options}))

    async def step(self, action: str) -> SlotResult:
        """Pass an action to the env; a failure is in the result."""
        return await self._run(action)

    async def leave(self) -> None:
        """Close the env, and let another session have the place."""
        try:
            if not self.busy:
                await self._run(_LEAVE)
        finally:
            self._threads.give_back(self._slot)

    async def _run(self, message: SlotMessage) -> SlotResult:
        self.busy = True
        result = await self._threads.run(self._slot, message)
        self.busy = False
        return result


class Seats:
    """So many seats.

    Args:
        makers: id → maker of its env.
        count: how many there are.
        step_timeout: seconds that one call of an env may take, after which its episode has failed.
    """

    def __init__(self, makers: Mapping[str, Maker], count: int, step_timeout: float) -> None:
        self._threads = EnvThreads(lambda: _ChosenEnv(makers), count, step_timeout)

    async def take(self) -> Seat:
        """A seat that is free; waits for one."""
        return Seat(self._threads, await self._threads.take())

    async def close(self) -> None:
        """Close every env and end every thread."""
        await self._threads.close()
