"""Several envs in one slot; the reset of each episode chooses one.

With fixed ids per slot, an id with short episodes would be played more often than its share.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from gem.core import Env, Info, Observation, Wrapper
from gem.vector.messages import Maker

_NAME_OPTION = "gem.vector: name"
"""The option of a reset that chooses the env."""


def options_for(name: str | None, options: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
    """The options of a `Reset` that choose an env by name, beside its other `options`; None: that of the slot."""
    return options if name is None else {**(options or {}), _NAME_OPTION: name}


class MixtureEnv(Wrapper):
    """One env per name, built when it is first played, and kept; those in `built` now. The first is the default."""

    def __init__(self, makers: Mapping[str, Maker], built: Sequence[str]) -> None:
        self._makers = makers
        self._own = self._playing = built[0]
        self._envs: dict[str, Env] = {}
        try:
            for name in built:
                self._envs[name] = makers[name]()
        except BaseException:
            self.close()
            raise
        super().__init__(self._envs[self._own])

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        given = dict(options or {})
        name = given.pop(_NAME_OPTION, self._own)
        if self.env.capacities and self._envs.get(name) is not self.env:
            # An episode that was abandoned may hold what others wait for.
            self._envs.pop(self._playing).close()
        if name not in self._envs:
            self._envs[name] = self._makers[name]()
        self._playing = name
        self.env = self._envs[name]
        return self.env.reset(seed=seed, options=given or None)

    @property
    def capacities(self) -> Mapping[str, int]:  # pyright: ignore[reportIncompatibleVariableOverride]: those of all
        return {name: capacity for env in self._envs.values() for name, capacity in env.capacities.items()}

    def close(self) -> None:
        with ExitStack() as every:  # closes all, even if one raises
            for env in self._envs.values():
                every.callback(env.close)


def mixture_makers(makers: Mapping[str, Maker], slots: Sequence[str]) -> list[Maker]:
    """The maker of each slot, given the name of its own env.

    Each slot builds its own env at once, and its part of those without a slot, so that refused settings are
    reported before the first episode.
    """
    without_slot = [name for name in makers if name not in slots]
    return [partial(MixtureEnv, makers, (own, *without_slot[slot :: len(slots)])) for slot, own in enumerate(slots)]
