"""Rewards on the way that never outweigh the end."""

from collections.abc import Mapping
from typing import Any

from gem.checks import finite
from gem.core import Env, Info, Observation, Step, Wrapper
from gem.errors import ConfigError


class BoundedShaping(Wrapper):
    """What an episode earns before its last step stays within `-most` and `most`; the last step is the env's own.

    Where success earns 1 more in the last step than failure, a success then returns more than any failure, whatever
    the rewards on the way: `most` is below a half. Without it five rewarded calls of a tool and a wrong answer can earn
    more than one call and the right one, and a game that is lost early more than one that is won after costly turns.

    What passes a bound is left out of a reward; the env's own reward is then in `info["unbounded_reward"]`.

    Args:
        most: from 0, which leaves out all rewards before the last, to below 0.5.
    """

    def __init__(self, env: Env, *, most: float = 0.4) -> None:
        super().__init__(env)
        self.most = finite("most", most)
        if not 0 <= self.most < 0.5:
            raise ConfigError(f"most is from 0 to below 0.5, not {most}")
        self._earned = 0.0

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        self._earned = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> Step:
        step = self.env.step(action)
        if step.done:
            return step
        before, self._earned = self._earned, self._earned + step.reward
        if -self.most <= self._earned <= self.most:
            return step
        self._earned = self.most if self._earned > 0 else -self.most
        return step._replace(reward=self._earned - before, info={**step.info, "unbounded_reward": step.reward})
