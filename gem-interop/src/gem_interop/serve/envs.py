"""Environments of a server. A client chooses among them by id, and cannot name anything else."""

from collections.abc import Mapping, Sequence
from typing import Any

from gem.core import Env, Info, Observation, Step
from gem.errors import ConfigError, did_you_mean
from gem.packs.component_ref import ComponentRef
from gem.packs.make import bind
from gem.packs.preflight import check_envs, check_wrappers
from gem.packs.registry import all_specs
from gem.vector.make import SpecMaker
from gem.vector.messages import Maker, Reset
from gem_interop.serve.protocol import Refused

_LONGEST_ID = 100


def options_for(id: str | None, options: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The options of a `Reset` that choose an id, beside those for its env; without an id, the env is closed."""
    return {"id": id, "options": options}


LEAVE = Reset(0, options_for(None, None))
"""The message at the end of a session."""


class _ChosenEnv(Env):
    """An env of the id that the options of its reset name; the one before is closed.

    So a session never meets what another one has left behind: neither an env nor its progress.
    """

    def __init__(self, makers: Mapping[str, Maker]) -> None:
        self._makers = makers
        self._id: str | None = None
        self._env: Env | None = None

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Info]:
        assert options is not None
        id: str | None = options["id"]
        if id != self._id:
            self.close()
            self._env = None if id is None else self._makers[id]()
            self._id = id
        return ("", {}) if self._env is None else self._env.reset(seed=seed, options=options["options"])

    def step(self, action: str) -> Step:
        assert self._env is not None
        return self._env.step(action)

    def sample_action(self) -> str:
        raise NotImplementedError("an env that is served is played by its client")

    def close(self) -> None:
        env, self._env, self._id = self._env, None, None
        if env is not None:
            env.close()


class ServedEnvs:
    """The ids that a client may name.

    Args:
        ids: of them; by default every id that is installed, when it starts. Each that is named is built once.
        wrappers: as in `gem.make`, around every env.
        env_kwargs: override the kwargs of the specs.

    Raises:
        ConfigError: kwargs without ids, or what an env refuses.
        UnknownId, PackError, SpecError, MissingExtra, DataUnavailable: see `gem.packs.preflight.check_envs`.
    """

    def __init__(
        self,
        ids: Sequence[str] = (),
        wrappers: Sequence[ComponentRef] = (),
        env_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if env_kwargs and not ids:
            raise ConfigError("arguments of environments need ids: not every installed one takes them")
        if ids:
            checked = check_envs(ids, wrappers, **(env_kwargs or {}))
            given = {name: each.spec for name, each in checked.items()}
            # By the name that was given and by the id: they differ for "module.path:Class".
            specs = {**given, **{spec.id: spec for spec in given.values()}}
        else:
            check_wrappers(wrappers)
            specs = {spec.id: bind(spec, wrappers=wrappers) for spec in all_specs()}
        self.ids: Sequence[str] = sorted({spec.id for spec in specs.values()})
        """Sorted."""
        self.makers: Mapping[str, Maker] = {name: SpecMaker(spec) for name, spec in specs.items()}
        """Makers by the names that a client may use."""

    def make(self) -> Env:
        """An env that plays what a reset chooses."""
        return _ChosenEnv(self.makers)

    def chosen(self, id: str | None) -> str:
        """The name of what a client wants to play; without one, the only id.

        Raises:
            Refused: it is not served, or was not said.
        """
        if id is None:
            if len(self.ids) > 1:
                raise Refused(
                    "VALIDATION_ERROR", f"this server plays {len(self.ids)} ids: say which, as in id={self.ids[0]!r}"
                )
            return self.ids[0]
        if id not in self.makers:
            shown, near = f"an id of {len(id)} characters", ""
            if len(id) <= _LONGEST_ID:
                shown, near = repr(id), did_you_mean(id, self.ids)
            raise Refused(
                "VALIDATION_ERROR", f"this server does not play {shown}.{near} /list_environments names every id."
            )
        return id
