"""Statistics of the episode, in the info."""

from collections.abc import Mapping
from typing import Any

from gem.core import Env, Info, Observation, Step, Wrapper


class EpisodeTracking(Wrapper):
    """Adds to every info, under GEM's keys, what has been seen at this place of the stack.

    `step_counter`: actions in this episode. `cumulative_rewards`: their summed rewards. The info of `reset` has
    `prev_ep_step_counter` and `prev_ep_cumulative_rewards` as well, of the episode before; 0 for the first.
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._steps = 0
        self._rewards = 0.0

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        previous = {"prev_ep_step_counter": self._steps, "prev_ep_cumulative_rewards": self._rewards}
        self._steps, self._rewards = 0, 0.0
        return observation, {**info, **self._counts(), **previous}

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        self._rewards += reward
        return Step(observation, reward, terminated, truncated, {**info, **self._counts()})

    def _counts(self) -> Info:
        return {"step_counter": self._steps, "cumulative_rewards": self._rewards}
