"""A curriculum: the level rises as the agent succeeds, and falls as it fails."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from gem.checks import check_int
from gem.core import Env, Info, Observation, Step, Wrapper
from gem.errors import ConfigError, SnapshotError
from gem.packs.spec import EnvSpec

_LEVEL_BYTES = 4
"""The bytes of a snapshot that hold the level."""


class Curriculum(Wrapper):
    """Plays an env on several levels, chosen by the success rate.

    The first episode is on level 0. After each episode, if at least `window` were played on the level, the success rate
    of the last `window` decides: from `promote` on, the next level follows; below `demote`, the previous one. Only
    completed episodes count. The info of `reset` and of a last step has `"level"`.

    In a vector each slot has its own curriculum; `VectorEnv.progress` returns all of them, to continue in another
    program. If a worker dies, its episodes above level 0 fail, because seed and actions are not enough to replay them,
    and its curricula restart. `reset(options={"level": 2})` sets the level.

    Args:
        env: the env, wrapped or not; one is built for each level by the same constructor calls.
        levels: for each level, easiest first, keyword arguments of the innermost env.
        window: episodes over which the success rate is measured.
        promote: the success rate for the next level.
        demote: the success rate below which the previous level follows.

    Raises:
        ConfigError: there are no levels, the env refuses one, or `promote` and `demote` are not in order.
    """

    _unsaved = Wrapper._unsaved | {"_envs"}

    def __init__(
        self,
        env: Env,
        *,
        levels: Sequence[Mapping[str, Any]],
        window: int = 20,
        promote: float = 0.8,
        demote: float = 0.3,
    ) -> None:
        if not isinstance(levels, Sequence) or not levels:  # pyright: ignore[reportUnnecessaryIsInstance]: from a file
            raise ConfigError("a curriculum needs levels: [{'num_disks': 3}, {'num_disks': 4}, …]")
        if not 0 <= demote < promote <= 1:
            raise ConfigError(f"0 <= demote < promote <= 1 does not hold for demote={demote} and promote={promote}")
        self.window = check_int("window", window, 1)
        with ExitStack() as easier:  # closes them if a harder level is refused
            self._envs = [
                easier.enter_context(_on_level(env, number, changes)) for number, changes in enumerate(levels)
            ]
            easier.pop_all()
        super().__init__(self._envs[0])
        self.promote = promote
        self.demote = demote
        self.level = 0
        """The level of the current episode."""
        self._successes: list[bool] = []
        env.close()

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        options = dict(options or {})
        level = options.pop("level", None)
        level = self._next_level() if level is None else check_int("level", level, 0, len(self._envs) - 1)
        if level != self.level:
            if seed is None:  # seeded by the env of the previous level
                seed = self.env.rng.getrandbits(63)
            self.level, self.env = level, self._envs[level]
            self._successes = []
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "level": self.level}

    def step(self, action: str) -> Step:
        step = self.env.step(action)
        if not step.done:
            return step
        self._successes = [*self._successes, step.info["success"]][-self.window :]
        return step._replace(info={**step.info, "level": self.level})

    def snapshot(self) -> bytes:
        return self.level.to_bytes(_LEVEL_BYTES, "big") + super().snapshot()

    def restore(self, state: bytes) -> None:
        level = int.from_bytes(state[:_LEVEL_BYTES], "big")
        if level >= len(self._envs):
            raise SnapshotError("this is not a snapshot of a curriculum, or of one with more levels")
        before, self.env = self.env, self._envs[level]
        try:
            super().restore(state[_LEVEL_BYTES:])
        except SnapshotError:
            self.env = before
            raise

    def progress(self) -> Any:
        inner = [env.progress() for env in self._envs]
        return {"level": self.level, "successes": self._successes, "inner": inner}

    def set_progress(self, progress: Any) -> None:
        if len(progress["inner"]) != len(self._envs):
            raise ConfigError(f"this curriculum has {len(self._envs)} levels, and not {len(progress['inner'])}")
        for env, inner in zip(self._envs, progress["inner"], strict=True):
            if inner is not None:
                env.set_progress(inner)
        level: int = progress["level"]
        successes: list[bool] = list(progress["successes"])
        self.level, self.env, self._successes = level, self._envs[level], successes

    def close(self) -> None:
        with ExitStack() as every:  # closes all, even if one raises
            for env in self._envs:
                every.callback(env.close)

    @property
    def spec(self) -> EnvSpec | None:
        return self.env.spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        for env in self._envs:
            env.spec = spec

    def _next_level(self) -> int:
        if len(self._successes) < self.window:
            return self.level
        share = sum(self._successes) / self.window
        if share >= self.promote:
            return min(self.level + 1, len(self._envs) - 1)
        return max(self.level - 1, 0) if share < self.demote else self.level


def _on_level(env: Env, level: int, changes: Mapping[str, Any]) -> Env:
    try:
        made = env.rebuild(**changes)
    except ConfigError as error:
        raise ConfigError(f"level {level} of the curriculum: {error}") from error
    made.spec = env.spec
    return made
