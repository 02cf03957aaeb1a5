"""gem-llm's base classes, and an environment of GEM behind them."""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

import gem


class Env(ABC):
    """gem-llm's base class, for the environments of frameworks; those of GEM derive from `gem.Env`."""

    @abstractmethod
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Carry out an action; returns observation, reward, terminated, truncated and info."""

    @abstractmethod
    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """As in gem-llm, a seed seeds the generators of `random` and numpy, which the whole process shares."""
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
        return "", {}

    def sample_random_action(self) -> str:
        """A random action."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample_random_action")

    def spawn(self, same_state: bool = False, **kwargs: Any) -> "Env":
        """A new env with these settings, or a copy of this one."""
        raise NotImplementedError(f"{type(self).__name__} does not define spawn")

    @property
    def unwrapped(self) -> Any:
        """The env below every wrapper."""
        return self


class EnvWrapper(Env):
    """An env around another one; what it does not have is read from the inner one."""

    def __init__(self, env: Env) -> None:
        self.env = env
        """The inner env."""

    @property
    def unwrapped(self) -> Any:
        return self.env.unwrapped

    def sample_random_action(self) -> str:
        return self.env.sample_random_action()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)


class GemEnv(Env):
    """An environment of GEM behind gem-llm's API; what is not in that is read from the environment, `env`.

    Args:
        env: the environment.
        seed: of the first episode that `reset` starts without a seed; later ones continue its generators.
    """

    def __init__(self, env: gem.Env, seed: int | None = None) -> None:
        self.env = env
        """The environment of GEM."""
        self._seed = seed

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, gem.Info]:
        given = self._seed if seed is None else seed
        self._seed = None
        return self.env.reset(seed=None if given is None else int(given))

    def step(self, action: str) -> tuple[gem.Observation, float, bool, bool, gem.Info]:
        """As in gem-llm, a truncated episode is terminated too: ROLL asks for the latter only."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, truncated, info

    def sample_random_action(self) -> str:
        return self.env.sample_action()

    def spawn(self, same_state: bool = False, **kwargs: Any) -> "GemEnv":
        """A copy in the same state, or a new env of the same spec with other arguments; a `seed` seeds it."""
        seed = kwargs.pop("seed", None)
        if not same_state:
            return GemEnv(self.env.rebuild(**kwargs), seed)
        if kwargs or seed is not None:
            raise ValueError(
                f"a copy in the same state has the same arguments: leave out {', '.join(kwargs) or 'seed'}"
            )
        [copy] = self.env.fork(1)
        return GemEnv(copy)

    def around(self, wrapper: Callable[[gem.Env], gem.Env]) -> "GemEnv":
        """This env with a wrapper of GEM around it."""
        return GemEnv(wrapper(self.env), self._seed)

    def close(self) -> None:
        """Release what the environment holds."""
        self.env.close()

    @property
    def unwrapped(self) -> gem.Env:
        return self.env.unwrapped

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)
