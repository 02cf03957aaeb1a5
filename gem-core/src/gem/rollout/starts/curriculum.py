"""Starts by difficulty."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gem.checks import check_int
from gem.episode import Episode, Start
from gem.errors import ConfigError
from gem.rollout.starts.by_weight import ByWeight
from gem.rollout.starts.sampler import StartSampler
from gem.vector import VectorEnv


class Curriculum(StartSampler):
    """Levels of envs: success leads to the next level, failure back to the previous one.

    The first level is 0. Whenever the sampler is told of episodes, and at least `window` were played on the level, the
    success rate of the last `window` decides: from `promote` on the next level follows, below `demote` the previous
    one. Failed episodes, and those of envs that the level does not have, do not count.

    Args:
        envs: the vector. It plays every level, which may be an id, or a `gem.vector.Share` with kwargs and a name.
        levels: easiest first; each is the name of an env, or several names with their weights.
        window: episodes over which the success rate is measured.
        promote: the success rate for the next level.
        demote: the success rate below which the previous level follows.

    Raises:
        ConfigError: there are no levels, or a setting is out of range.
        SpecError: the vector does not play an env of that name.
    """

    def __init__(
        self,
        envs: VectorEnv,
        levels: Sequence[str | Mapping[str, float]],
        *,
        window: int = 20,
        promote: float = 0.8,
        demote: float = 0.3,
    ) -> None:
        if not levels or not all(levels):
            raise ConfigError('a curriculum needs levels: ["game:Sudoku-v0-easy", "game:Sudoku-v0-hard"]')
        if not 0 <= demote < promote <= 1:
            raise ConfigError(f"0 <= demote < promote <= 1 does not hold for demote={demote} and promote={promote}")
        self.window = check_int("window", window, 1)
        self.promote = promote
        self.demote = demote
        self.level = 0
        """The level of the next start."""
        pools = [{level: 1.0} if isinstance(level, str) else level for level in levels]
        self._pools = [ByWeight(pool) for pool in pools]
        self._specs = [[envs.spec_of(0, name) for name in pool] for pool in pools]
        self._successes: list[bool] = []

    def start(self, seed: int) -> Start:
        return self._pools[self.level].start(seed)

    def ended(self, episodes: Iterable[Episode]) -> None:
        specs = self._specs[self.level]
        counted = [each.success for each in episodes if each.failure is None and each.spec in specs]
        self._successes = [*self._successes, *counted][-self.window :]
        if len(self._successes) < self.window:
            return
        rate = sum(self._successes) / self.window
        level = self.level + (rate >= self.promote) - (rate < self.demote)
        if level != self.level and level in range(len(self._pools)):
            self.level, self._successes = level, []

    def state(self) -> dict[str, Any]:
        return {"level": self.level, "successes": self._successes, "pools": [pool.state() for pool in self._pools]}

    def restore(self, state: Any) -> None:
        self.level, self._successes = state["level"], list(state["successes"])
        for pool, own in zip(self._pools, state["pools"], strict=True):
            pool.restore(own)

    def metrics(self) -> dict[str, float]:
        return {"level": self.level}
