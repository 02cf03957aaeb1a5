"""Functions applied to actions, observations or rewards. Snapshots do not contain them, and forks share them."""

from collections.abc import Callable, Mapping
from typing import Any

from gem.core import Env, Info, Observation, Step, Wrapper


class TransformAction(Wrapper):
    """The env gets `function(action)`, such as `lambda reply: reply.split("</think>")[-1]`.

    `sample_action` and `expert_action` are those of the env, so the function must accept their actions.
    """

    _unsaved = Wrapper._unsaved | {"function"}

    def __init__(self, env: Env, function: Callable[[str], str]) -> None:
        super().__init__(env)
        self.function = function

    def step(self, action: str) -> Step:
        return self.env.step(self.function(action))


class TransformObservation(Wrapper):
    """The agent gets `function(observation)` for every observation."""

    _unsaved = Wrapper._unsaved | {"function"}

    def __init__(self, env: Env, function: Callable[[Observation], Observation]) -> None:
        super().__init__(env)
        self.function = function

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self.function(observation), info

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return Step(self.function(observation), reward, terminated, truncated, info)


class ShapeReward(Wrapper):
    """The reward is `function(action, step)`, such as `lambda action, step: step.reward - 0.001 * len(action)`.

    The original reward is in `info["unshaped_reward"]`.
    """

    _unsaved = Wrapper._unsaved | {"function"}

    def __init__(self, env: Env, function: Callable[[str, Step], float]) -> None:
        super().__init__(env)
        self.function = function

    def step(self, action: str) -> Step:
        step = self.env.step(action)
        observation, reward, terminated, truncated, info = step
        shaped = self.function(action, step)
        return Step(observation, shaped, terminated, truncated, {**info, "unshaped_reward": reward})
