"""The names of gem-llm, for RL2's `envs/gem.py`, ROLL, and programs of your own that were written for it.

gem-llm's package is called `gem` too, so this module has another name. Change the imports:

```python
from gem_interop import gem_llm as gem
from gem_interop.gem_llm import get_wrapper_fns

env = gem.make(env_id="game:GuessTheNumber-v0-easy", seed=233)
for wrapper in get_wrapper_fns("concat"):
    env = wrapper(env)
observation, info = env.reset()
observation, reward, terminated, truncated, info = env.step("\\\\boxed{5}")
```

The environments are GEM's, and they behave as GEM's: see docs/coming-from-gem-llm.md.
"""

import functools
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import gem
from gem.errors import ConfigError
from gem.packs.component_ref import name_and_settings
from gem.packs.importing import import_object
from gem.packs.lookup import find_named
from gem.packs.registry import registry


class Env(ABC):
    """The base class of gem-llm, for the environments of frameworks; those of GEM derive from `gem.Env`."""

    @abstractmethod
    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Carry out an action; returns observation, reward, terminated, truncated and info."""

    @abstractmethod
    def reset(self, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Seed the generators of `random` and numpy, which the whole process shares, as in gem-llm."""
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002
        return "", {}

    @property
    def unwrapped(self) -> Any:
        """The env below every wrapper."""
        return self


class GemEnv(Env):
    """An environment of GEM behind gem-llm's API; other names are looked up in the environment, `env`.

    Args:
        build: builds the environment; other arguments of it may be given.
        seed: of the first episode that `reset` starts without a seed; later ones continue its generators.
        env: the environment, if it is already built.
    """

    def __init__(self, build: Callable[..., gem.Env], seed: int | None = None, env: gem.Env | None = None) -> None:
        self.env = build() if env is None else env
        """The environment of GEM."""
        self._build, self._seed = build, seed

    def reset(self, seed: int | None = None) -> tuple[gem.Observation, gem.Info]:
        given, self._seed = (self._seed if seed is None else seed), None
        return self.env.reset(seed=None if given is None else int(given))

    def step(self, action: str) -> tuple[gem.Observation, float, bool, bool, gem.Info]:
        """Pass an action on. A truncated episode is terminated too, as in gem-llm: ROLL asks for the latter only."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated or truncated, truncated, info

    def sample_random_action(self) -> str:
        """A random action."""
        return self.env.sample_action()

    def spawn(self, same_state: bool = False, **kwargs: Any) -> "GemEnv":
        """A copy in the same state, or a new env of the same spec with other arguments; a `seed` seeds it."""
        seed = kwargs.pop("seed", None)
        if not same_state:
            return GemEnv(functools.partial(self._build, **kwargs), seed)
        if kwargs or seed is not None:
            raise ValueError(f"a copy in the same state takes no arguments: leave out {', '.join(kwargs) or 'seed'}")
        [copy] = self.env.fork(1)
        return GemEnv(self._build, env=copy)

    def around(self, wrapper: Callable[[gem.Env], gem.Env]) -> "GemEnv":
        """The env with a wrapper of GEM around it."""

        def build(**kwargs: Any) -> gem.Env:
            return wrapper(self._build(**kwargs))

        return GemEnv(build, self._seed, wrapper(self.env))

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


_registered: dict[str, tuple[Callable[..., Env] | str, dict[str, Any]]] = {}
"""The ids of frameworks, which may have any form (`sokoban`): what makes the env, and its arguments."""


def register(env_id: str, entry_point: Callable[..., Env] | str, **kwargs: Any) -> None:
    """Register an environment of a framework, which is imported when it is made.

    Args:
        env_id: its id.
        entry_point: makes the env, or `"module:name"`.
        kwargs: its arguments.

    Raises:
        ValueError: the id is taken, here or in GEM.
    """
    if env_id in _registered or registry().registered(env_id) is not None:
        raise ValueError(f"the environment {env_id} is already registered")
    _registered[env_id] = entry_point, kwargs


def make(env_id: str, **kwargs: Any) -> Any:
    """Build an environment that a framework registered, or else one of GEM.

    Args:
        env_id: the id.
        kwargs: override those of the id. `seed` of an environment of GEM seeds its first episode.

    Raises:
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """
    if env_id not in _registered:
        seed = kwargs.pop("seed", None)
        return GemEnv(functools.partial(gem.make, env_id, **kwargs), seed)
    entry_point, defaults = _registered[env_id]
    made: Any = import_object(entry_point) if isinstance(entry_point, str) else entry_point
    env = made(**{**defaults, **kwargs})
    env.env_id, env.entry_point = env_id, entry_point
    return env


def make_vec(
    env_ids: str | Sequence[str],
    wrappers: Sequence["WrapperFn"] | None = None,
    vec_kwargs: Sequence[dict[str, Any]] | None = None,
    async_mode: bool = False,
    seed: int = 0,
    **kwargs: Any,
) -> gem.VectorEnv:
    """Build several environments of GEM. A slot has the seed in its `vec_kwargs`, or else `seed` plus its number.

    The result has GEM's interface: `num_envs`, `reset` and `step` as in gem-llm, and not `envs`.

    Raises:
        ConfigError: an id is a framework's own.
    """
    ids = [env_ids] if isinstance(env_ids, str) else list(env_ids)
    if own := sorted(_registered.keys() & set(ids)):
        raise ConfigError(f"make_vec takes ids of GEM; {', '.join(own)} can only be made one by one, with make")
    slots = [{"seed": seed + slot, **(vec_kwargs[slot] if vec_kwargs else {})} for slot in range(len(ids))]
    references = [fn.reference for fn in wrappers or ()]
    return gem.make_vec(ids, wrappers=references, vec_kwargs=slots, async_mode=async_mode, env_kwargs=kwargs)


def print_envs() -> None:
    """Print every id."""
    for name in (*sorted(_registered), *(spec.id for spec in gem.all_specs())):
        print(name)


class WrapperFn:
    """A wrapper of GEM with its settings, as a function of an environment."""

    def __init__(self, wrapper: str, **settings: Any) -> None:
        self.reference: dict[str, Any] = {"name": wrapper, **settings}
        """The wrapper as `gem.make(…, wrappers=[…])` takes it."""

    def __call__(self, env: Env) -> GemEnv:
        """Wrap an environment that `make` has built.

        Raises:
            ConfigError: it is not an environment of GEM.
        """
        if not isinstance(env, GemEnv):
            raise ConfigError(f"these wrappers go around an environment of GEM, not around {type(env).__name__}")
        name, settings = name_and_settings(self.reference)
        return env.around(functools.partial(find_named("wrapper", name), **settings))


WRAPPER_FACTORY: Mapping[str, WrapperFn] = {
    name: WrapperFn(name)
    for name in (
        *("concat", "concat_chat", "concat_with_action", "concat_chat_on_reset", "episode_tracking"),
        *("python_tool", "python_tool_no_int_reward", "python_tool_no_int_reward_last_line_error"),
        *("search_tool", "search_tool_no_int_reward"),
    )
}
"""Names of wrappers in gem-llm → functions that wrap an environment. Those of tools are in gem-tools."""


def get_wrapper_fns(wrappers: str, tokenizer: Any = None) -> list[WrapperFn]:
    """Functions that wrap an environment, in the order of their names, which have commas between them.

    Raises:
        ConfigError: a name is unknown.
    """
    fns: list[WrapperFn] = []
    for name in filter(None, (each.strip() for each in (wrappers or "").split(","))):
        if name not in WRAPPER_FACTORY:
            raise ConfigError(f"gem-llm has no wrapper {name!r}; it has {', '.join(WRAPPER_FACTORY)}")
        renders = name.startswith("concat_chat") and tokenizer is not None
        fns.append(WrapperFn(name, tokenizer=tokenizer) if renders else WRAPPER_FACTORY[name])
    return fns
