"""A bound on the rewards before the last step of an episode."""

from collections.abc import Mapping
from typing import Any

from gem.checks import finite
from gem.core import Env, Info, Observation, Step, Wrapper
from gem.errors import ConfigError


class BoundedShaping(Wrapper):
    """Keeps the sum of the rewards before the last step within `-most` and `most`; the last step is unchanged.

    With `most` below 0.5, and if success earns 1 more than failure in the last step, every success has a higher return
    than any failure. Without the bound, five rewarded tool calls and a wrong answer may earn more than one call and the
    right answer. If a reward is changed, the original is in `info["unbounded_reward"]`.

    Args:
        most: from 0 (no rewards before the last step) to below 0.5.
    """

    def __init__(self, env: Env, *, most: float = 0.4) -> None:
        super().__init__(env)
        self.most = finite("most", most)
        if not 0 <= self.most < 0.5:
            raise ConfigError(f"most must be from 0 to below 0.5, not {most}")
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
