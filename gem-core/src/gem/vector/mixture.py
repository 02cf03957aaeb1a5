"""Several ids in one slot; the reset of each episode chooses one.

With fixed ids per slot, an id with short episodes would be played more often than its share.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from gem.core import Env, Info, Observation, Wrapper
from gem.errors import ConfigError
from gem.vector.messages import Maker

_ID_OPTION = "gem.vector: id"
"""The option of a reset that chooses the id."""


def options_for(id: str | None, options: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
    """The options of a `Reset` that choose an id, beside its other `options`; None leaves the choice to the slot."""
    return options if id is None else {**(options or {}), _ID_OPTION: id}


class MixtureEnv(Wrapper):
    """One env per id, built when it is first played, and kept with its state, such as the level of a curriculum.

    Args:
        makers: id → maker of its env.
        built: the ids to build now; the first is the default.
    """

    def __init__(self, makers: Mapping[str, Maker], built: Sequence[str]) -> None:
        self._makers = makers
        self._own = built[0]
        self._envs: dict[str, Env] = {}
        try:
            for id in built:
                self._envs[id] = makers[id]()
        except BaseException:
            self.close()
            raise
        super().__init__(self._envs[self._own])

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        given = dict(options or {})
        id = given.pop(_ID_OPTION, self._own)
        if id not in self._envs:
            self._envs[id] = self._makers[id]()
        self.env = self._envs[id]
        return self.env.reset(seed=seed, options=given or None)

    def progress(self) -> Any:
        kept = {id: env.progress() for id, env in self._envs.items()}
        return {id: progress for id, progress in kept.items() if progress is not None} or None

    def set_progress(self, progress: Any) -> None:
        for id, kept in progress.items():
            if id not in self._makers:
                raise ConfigError(f"these envs do not play {id!r}")
            if id not in self._envs:
                self._envs[id] = self._makers[id]()
            self._envs[id].set_progress(kept)

    def close(self) -> None:
        with ExitStack() as every:  # closes all, even if one raises
            for env in self._envs.values():
                every.callback(env.close)


@dataclass(frozen=True, slots=True)
class MixtureMaker:
    """Makes the env of one slot; it is pickled for other processes."""

    makers: Mapping[str, Maker]
    built: tuple[str, ...]

    def __call__(self) -> Env:
        return MixtureEnv(self.makers, self.built)


def mixture_makers(makers: Mapping[str, Maker], slots: Sequence[str]) -> list[Maker]:
    """The maker of each slot, given the id of each.

    Each slot builds the env of its id at once, and its part of the ids without a slot, so that refused settings are
    reported before the first episode.
    """
    without_slot = [id for id in makers if id not in slots]
    return [MixtureMaker(makers, (own, *without_slot[slot :: len(slots)])) for slot, own in enumerate(slots)]
