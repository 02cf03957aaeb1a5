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
    level: int = Field(default=0, description="of a curriculum, which begins with the lowest and goes up by success")
    env: dict[str, Any] = Field(default_factory=dict, description="its keyword arguments, over those of all")
    wrappers: Wrappers = Field(default="", description="wrappers around it, inside those of all")


class EnvConfig(NamedTuple):
    """An environment as settings: its id, its keyword arguments, and the wrappers around it; or a mix of several."""

    id: str
    env: dict[str, Any]
    wrappers: Wrappers
    mix: Sequence[MixConfig] = ()

    @property
    def parts(self) -> list[MixConfig]:
        """One table for each environment, with all of its arguments and of the wrappers around it, innermost first."""
        own = self.mix or [MixConfig(id=str(id)) for id in as_list(self.id)]
        outer = as_list(self.wrappers)
        return [
            each.model_copy(update={"env": self.env | each.env, "wrappers": [*as_list(each.wrappers), *outer]})
            for each in own
        ]

    @property
    def names(self) -> list[str]:
        """The name of each of the `parts` in a vector: the id, with its number if it is not the first with that id."""
        ids = [part.id for part in self.parts]
        return [f"{id} #{index}" if id in ids[:index] else id for index, id in enumerate(ids)]

    @property
    def ids(self) -> str | list[Share]:
        """The environments as `gem.make_vec` takes them."""
        shares = [
            Share(each.id, each.weight, each.env, tuple(as_list(each.wrappers)), name)
            for each, name in zip(self.mix, self.names, strict=False)
        ]
        return shares or self.id

    @property
    def levels(self) -> list[dict[str, float]]:
        """The weights of the `parts` by name, for each level."""
        named = list(zip(self.parts, self.names, strict=True))
        levels = sorted({part.level for part in self.parts})
        return [{name: part.weight for part, name in named if part.level == level} for level in levels]


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
