"""Statistics of the episode, in the info."""

from collections.abc import Mapping
from typing import Any

from gem.core import Env, Info, Observation, Step, Wrapper, new_tuple


class EpisodeTracking(Wrapper):
    """Adds statistics to every info, under the keys of gem-llm, as seen at this position in the stack of wrappers.

    `step_counter`: actions in this episode. `cumulative_rewards`: the sum of their rewards. The info of `reset` also
    has `prev_ep_step_counter` and `prev_ep_cumulative_rewards`, of the previous episode (0 for the first).
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._steps = 0
        self._rewards = 0.0

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        previous = {"prev_ep_step_counter": self._steps, "prev_ep_cumulative_rewards": self._rewards}
        self._steps, self._rewards = 0, 0.0
        return observation, {**info, "step_counter": 0, "cumulative_rewards": 0.0, **previous}

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps = steps = self._steps + 1
        self._rewards = rewards = self._rewards + reward
        info = {**info, "step_counter": steps, "cumulative_rewards": rewards}
        return new_tuple(Step, (observation, reward, terminated, truncated, info))
