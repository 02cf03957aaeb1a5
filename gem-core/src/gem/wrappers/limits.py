"""Limits that truncate an episode."""

from abc import abstractmethod
from collections.abc import Mapping
from time import monotonic
from typing import Any

from gem.checks import check_int, finite
from gem.core import Env, Info, Observation, Step, Wrapper, check_step, cut_off_info
from gem.errors import ConfigError


class Limit(Wrapper):
    """The base of both: truncates an episode with the first step after which `_reached()` is true."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._cut_off = False

    @abstractmethod
    def _reached(self) -> bool:
        """The check for the limit; called once after every step."""

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        self._cut_off = False
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> Step:
        check_step(self, self._cut_off, action)
        step = self.env.step(action)
        reached = self._reached()
        if step.done or not reached:
            return step
        self._cut_off = True
        return step._replace(truncated=True, info=cut_off_info(self, step.info))


class TurnLimit(Limit):
    """A limit of `max_turns` actions per episode, for envs that do not take `max_turns` themselves."""

    def __init__(self, env: Env, *, max_turns: int) -> None:
        super().__init__(env)
        self.max_turns = check_int("max_turns", max_turns, 1)
        self._turn = 0

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        self._turn = 0
        return super().reset(seed=seed, options=options)

    def _reached(self) -> bool:
        self._turn += 1
        return self._turn >= self.max_turns


class TimeLimit(Limit):
    """A limit of `seconds` of wall-clock time per episode from the end of `reset`, the agent's time included.

    It is checked at the end of a step, and does not interrupt one (`step_timeout` of a vector does). Such episodes are
    not reproducible. The time between `snapshot` and `restore` does not count.
    """

    def __init__(self, env: Env, *, seconds: float) -> None:
        super().__init__(env)
        self.seconds = finite("seconds", seconds)
        if self.seconds <= 0:
            raise ConfigError(f"seconds must be above 0, not {seconds!r}")
        self._spent = 0.0
        self._since = monotonic()

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        start = super().reset(seed=seed, options=options)
        self._spent, self._since = 0.0, monotonic()
        return start

    def snapshot(self) -> bytes:
        self._count()
        return super().snapshot()

    def restore(self, state: bytes) -> None:
        super().restore(state)
        # The clock differs in other processes and on other machines.
        self._since = monotonic()

    def _reached(self) -> bool:
        self._count()
        return self._spent >= self.seconds

    def _count(self) -> None:
        now = monotonic()
        self._spent += now - self._since
        self._since = now
