"""Functions applied to actions, observations or rewards. Snapshots do not contain them, and forks share them."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from gem.core import Env, Info, Observation, Step, Wrapper

F = TypeVar("F", bound=Callable[..., Any])


class _Applied(Wrapper, Generic[F]):
    _unsaved = Wrapper._unsaved | {"function"}

    def __init__(self, env: Env, function: F) -> None:
        super().__init__(env)
        self.function = function


class TransformAction(_Applied[Callable[[str], str]]):
    """The env gets `function(action)`, such as `lambda reply: reply.split("</think>")[-1]`.

    `sample_action` and `expert_action` are those of the env, so the function must accept their actions.
    """

    def step(self, action: str) -> Step:
        return self.env.step(self.function(action))


class TransformObservation(_Applied[Callable[[Observation], Observation]]):
    """The agent gets `function(observation)` for every observation."""

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        observation, info = self.env.reset(seed=seed, options=options)
        return self.function(observation), info

    def step(self, action: str) -> Step:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return Step(self.function(observation), reward, terminated, truncated, info)


class ShapeReward(_Applied[Callable[[str, Step], float]]):
    """The reward is `function(action, step)`, such as `lambda action, step: step.reward - 0.001 * len(action)`.

    The original reward is in `info["unshaped_reward"]`.
    """

    def step(self, action: str) -> Step:
        step = self.env.step(action)
        observation, reward, terminated, truncated, info = step
        shaped = self.function(action, step)
        return Step(observation, shaped, terminated, truncated, {**info, "unshaped_reward": reward})
