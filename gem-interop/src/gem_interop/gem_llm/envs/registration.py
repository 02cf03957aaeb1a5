"""`register`, `make` and `make_vec` as in gem-llm; ids that are not registered here are GEM's."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gem
from gem.errors import ConfigError
from gem.packs.registry import registry
from gem_interop.gem_llm.core import Env, GemEnv
from gem_interop.gem_llm.redirect import import_named
from gem_interop.gem_llm.wrappers.wrapper_factory import WrapperFn


class EnvSpec(NamedTuple):
    """What an id of a framework stands for."""

    id: str
    """The id."""
    entry_point: Callable[..., Env] | str
    """What makes the env, or `"module:name"`."""
    kwargs: dict[str, Any]
    """Its arguments."""


ENV_REGISTRY: dict[str, EnvSpec] = {}
"""The ids of frameworks, which may have any form: `sokoban`."""


def register(env_id: str, entry_point: Callable[..., Env] | str, **kwargs: Any) -> None:
    """Register an environment of a framework, which is imported when it is made.

    Raises:
        ValueError: the id is taken, here or in GEM.
    """
    if env_id in ENV_REGISTRY or registry().registered(env_id) is not None:
        raise ValueError(f"the environment {env_id} is already registered")
    ENV_REGISTRY[env_id] = EnvSpec(env_id, entry_point, kwargs)


def make(env_id: str, **kwargs: Any) -> Any:
    """Build an environment that a framework registered, or else one of GEM.

    Args:
        env_id: the id.
        kwargs: override those of the id. `seed` of an environment of GEM seeds its first episode.

    Raises:
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """
    if env_id not in ENV_REGISTRY:
        seed = kwargs.pop("seed", None)
        return GemEnv(gem.make(env_id, **kwargs), seed)
    spec = ENV_REGISTRY[env_id]
    made: Any = import_named(spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    env = made(**{**spec.kwargs, **kwargs})
    env.env_id, env.entry_point = env_id, spec.entry_point
    return env


def make_vec(
    env_ids: str | Sequence[str],
    wrappers: Sequence[WrapperFn] | None = None,
    vec_kwargs: Sequence[dict[str, Any]] | None = None,
    async_mode: bool = False,
    seed: int = 0,
    **kwargs: Any,
) -> gem.VectorEnv:
    """`gem.make_vec` with gem-llm's arguments. A slot has the seed in its `vec_kwargs`, or else `seed` plus its number.

    What it returns has GEM's interface: `num_envs`, `reset` and `step` as in gem-llm, and not `envs`.

    Raises:
        ConfigError: an id is a framework's own.
    """
    ids = [env_ids] if isinstance(env_ids, str) else list(env_ids)
    if own := sorted(ENV_REGISTRY.keys() & set(ids)):
        raise ConfigError(f"make_vec takes ids of GEM; {', '.join(own)} can only be made one by one, with make")
    slots = [{"seed": seed + slot, **(vec_kwargs[slot] if vec_kwargs else {})} for slot in range(len(ids))]
    return gem.make_vec(
        ids, wrappers=[fn.reference() for fn in wrappers or ()], vec_kwargs=slots, async_mode=async_mode, **kwargs
    )


def print_envs() -> None:
    """Print every id."""
    for name in (*sorted(ENV_REGISTRY), *(spec.id for spec in gem.all_specs())):
        print(name)
