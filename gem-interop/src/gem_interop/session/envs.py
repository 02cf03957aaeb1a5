"""Choice of the envs that a session plays."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from gem.core import Env
from gem.episode import Start
from gem.errors import ConfigError, SpecError
from gem.packs.make import Wrappers
from gem.packs.registry import get_spec
from gem.packs.spec import EnvSpec
from gem.vector.make import SpecMaker
from gem.vector.messages import Maker, Reset
from gem.vector.mixture import MixtureEnv, options_for
from gem.vector.reach import Reach


class EnvChoice:
    """One env, or several ids of which each episode plays one.

    Args:
        env: an id, a list of ids, or an env.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.

    Raises:
        ConfigError: the arguments contradict each other.
        UnknownId, PackError, SpecError, MissingExtra: see `gem.make`.
    """

    def __init__(
        self, env: str | Sequence[str] | Env, wrappers: Wrappers = (), env_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        self._mixture = False
        self.reach = Reach()
        """Reachability of what the envs depend on: sessions tell."""
        if isinstance(env, Env):
            if wrappers or env_kwargs:
                raise ConfigError("wrappers and env_kwargs are for ids; wrap the env itself")
            kind = type(env.unwrapped)
            self._own = env.spec.id if env.spec else f"{kind.__module__}:{kind.__qualname__}"
            self._specs: dict[str, EnvSpec | None] = {self._own: env.spec}
            self.maker: Maker = _Given(env)
            """Makes an env that plays any of them."""
            return
        ids = [env] if isinstance(env, str) else [*env] if hasattr(env, "__iter__") else []
        if not ids:
            raise ConfigError(f"a session needs an id, a list of ids, or an env, not {env!r}")
        makers = [SpecMaker(get_spec(id), wrappers, dict(env_kwargs or {})) for id in ids]
        bound = [maker.bound for maker in makers]
        self._own = bound[0].id
        # Both by the name that was given and by the id: they differ for "module.path:Class".
        self._specs = {**dict(zip(ids, bound, strict=True)), **{spec.id: spec for spec in bound}}
        self._mixture = len(ids) > 1
        by_id = {spec.id: maker for spec, maker in zip(bound, makers, strict=True)}
        self.maker = partial(MixtureEnv, by_id, (self._own,)) if self._mixture else makers[0]

    def spec(self, id: str | None) -> tuple[str, EnvSpec | None]:
        """The id that an episode plays and its spec (None for an env that was built by hand).

        Raises:
            SpecError: that id is not played.
        """
        if id is not None and id not in self._specs:
            raise SpecError(f"these sessions play {', '.join(self._specs)}, and not {id!r}")
        spec = self._specs[id or self._own]
        return (spec.id if spec else self._own), spec

    def reset(self, start: Start) -> Reset:
        """The message with which an episode starts."""
        return Reset(start.seed, options_for(start.id, start.options) if self._mixture else start.options)


class _Given:
    """Makes the env that was given; after a failure, which closes it, another by the same call."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._used = False

    def __call__(self) -> Env:
        if not self._used:
            self._used = True
            return self._env
        again = self._env.rebuild()
        again.spec = self._env.spec
        return again
