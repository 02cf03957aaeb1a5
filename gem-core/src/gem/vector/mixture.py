"""Several ids in one slot: each episode is of the one that its reset asks for.

Slots of fixed ids would play short episodes more often than long ones, so that two ids in equal parts become nine
episodes of one for each of the other.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from gem.core import Env, Info, Observation, Wrapper
from gem.vector.messages import Maker

_ID_OPTION = "gem.vector: id"
"""Which id is to be played, among the options of a reset."""


def options_for(id: str | None) -> Mapping[str, Any] | None:
    """The options of a `Reset` by which a slot of several ids plays this one; None plays what the slot has."""
    return None if id is None else {_ID_OPTION: id}


class MixtureEnv(Wrapper):
    """One env of each id, built when it is first played and kept, with whatever it has learned, such as a level.

    Args:
        makers: id → what makes its env.
        built: the ids of which to build the env now; the first is what plays where a reset asks for none.
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

    def close(self) -> None:
        with ExitStack() as every:  # the others too, where one raises
            for env in self._envs.values():
                every.callback(env.close)


@dataclass(frozen=True, slots=True)
class MixtureMaker:
    """Makes the env of one slot, in whatever process it is called."""

    makers: Mapping[str, Maker]
    built: tuple[str, ...]

    def __call__(self) -> Env:
        return MixtureEnv(self.makers, self.built)


def mixture_makers(makers: Mapping[str, Maker], slots: Sequence[str]) -> list[Maker]:
    """What makes the env of each slot, given the id of each.

    A slot builds the env of its own id at once, and with it those that no slot has: settings that an env refuses are
    known before anything is played.
    """
    without_slot = [id for id in makers if id not in slots]
    return [MixtureMaker(makers, (own, *without_slot[slot :: len(slots)])) for slot, own in enumerate(slots)]
