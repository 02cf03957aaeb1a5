"""`make_vec`: from ids to a vector of environments."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from gem.errors import ConfigError
from gem.registry import WrapperLike, get_spec, make
from gem.vector.engine import VectorEnv


def make_vec(
    ids: str | Sequence[str],
    num_envs: int | None = None,
    *,
    wrappers: str | Sequence[WrapperLike] = (),
    hints: Sequence[str] = (),
    **kwargs: Any,
) -> VectorEnv:
    """Build a vector of environments.

    Args:
        ids: one id for all slots, or one a slot (`num_envs` slots take them in turn).
        num_envs: how many slots; by default one for each id.
        wrappers: as in `gem.make`, around every env.
        hints: see `VectorEnv`.
        kwargs: override the specs' kwargs.

    Raises:
        ConfigError: there is no slot to fill.
    """
    names = [ids] if isinstance(ids, str) else list(ids)
    count = len(names) if num_envs is None else num_envs
    if not names or count < 1:
        raise ConfigError(f"a vector needs at least one id and one slot, not {len(names)} ids and {count} slots")
    specs = [get_spec(name) for name in names]
    makers = [partial(make, specs[slot % len(specs)], wrappers=wrappers, **kwargs) for slot in range(count)]
    return VectorEnv(makers, hints=hints)
