"""Several environments in one run, by weight, each with its own arguments, wrappers and tools: the tables `[[mix]]`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field

from gem.errors import ConfigError
from gem.packs.component_ref import as_list
from gem.vector import Share

Wrappers = str | list[str | dict[str, Any]]
"""Names separated by commas, or tables of a name and settings."""


class MixConfig(BaseModel):
    """One environment of a mix."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: str
    weight: float = Field(default=1.0, gt=0, description="its share of the groups of episodes, relative to the others")
    env: dict[str, Any] = Field(default_factory=dict, description="its keyword arguments, over those of all")
    wrappers: Wrappers = Field(default="", description="wrappers around it, inside those of all")


class EnvConfig(NamedTuple):
    """An environment as settings: its id, its keyword arguments, and the wrappers around it; or a mix of several."""

    id: str
    env: dict[str, Any]
    wrappers: Wrappers
    mix: Sequence[MixConfig] = ()

    @property
    def parts(self) -> Sequence[MixConfig]:
        """One table for each environment."""
        return self.mix or [MixConfig(id=str(id)) for id in as_list(self.id)]

    @property
    def ids(self) -> str | list[Share]:
        """The environments as `gem.make_vec` takes them."""
        return [Share(each.id, each.weight, each.env, tuple(as_list(each.wrappers))) for each in self.mix] or self.id


def id_of_mix(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings that are not validated yet; those with a mix get its ids, separated by commas, as their id.

    Raises:
        ConfigError: they have another id.
    """
    mix = settings.get("mix")
    if not isinstance(mix, list):
        return settings
    tables = [cast("dict[str, Any]", each) for each in cast("list[object]", mix) if isinstance(each, dict)]
    ids = ",".join(str(each.get("id", "")) for each in tables)
    if ids and settings.get("id", ids) != ids:
        raise ConfigError(f"the ids are those of the tables [[mix]], {ids}: leave out {settings['id']!r}")
    return {**settings, "id": ids} if ids else settings
