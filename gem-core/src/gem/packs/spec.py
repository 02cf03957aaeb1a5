"""Ids and specs: the name of an environment and how to build it, without importing it."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from gem.errors import SpecError
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.packs.importing import is_import_path, module_hint

_ID = re.compile(
    r"(?P<namespace>[a-z][a-z0-9_]*)"
    r":(?P<name>[A-Za-z0-9][A-Za-z0-9_.]*)"
    r"(?:-v(?P<version>[0-9]+))?"
    r"(?:-(?P<variant>[A-Za-z0-9][A-Za-z0-9_.-]*))?"
)
_FOREIGN = re.compile(r"([a-z][a-z0-9_]*):([^\s,/]*/[^\s,]*)")
"""A name with a slash in it, such as a URL, is another's: it has no parts. Commas separate ids."""
_HOST_AND_PORT = re.compile(r"([a-z][a-z0-9_]*):([^\s,/:]+:[0-9]+(?:#[^\s,/]*)?)")
"""What is meant as a URL."""


class EnvId(NamedTuple):
    """The parts of an id, `namespace:Name[-vN][-variant]`: `namespace`, `name`, `version` and `variant`.

    A name with a slash, such as a URL, is one that a source looks up (see `EnvSource`); all of it is the `name`.
    """

    namespace: str
    name: str
    version: int | None
    variant: str | None

    @classmethod
    def parse(cls, text: str) -> "EnvId":
        """The parts of `text`; `SpecError` if it is not an id."""
        if foreign := _FOREIGN.fullmatch(text):
            return cls(foreign[1], foreign[2], None, None)
        match = _ID.fullmatch(text)
        if match is None:
            if meant := _HOST_AND_PORT.fullmatch(text):
                raise SpecError(
                    f"{text!r} is not an environment id: an address in an id begins with http:// or https://, such as "
                    f"'{meant[1]}:http://{meant[2]}'"
                )
            raise SpecError(
                f"{text!r} is not an environment id. The form of an id is 'namespace:Name[-vN][-variant]', "
                f"for example 'game:GuessTheNumber-v0-easy' or 'math:Arithmetic-v0'.{module_hint(text)}"
            )
        version = match["version"]
        return cls(match["namespace"], match["name"], int(version) if version else None, match["variant"])

    def __str__(self) -> str:
        version = "" if self.version is None else f"-v{self.version}"
        variant = "" if self.variant is None else f"-{self.variant}"
        return f"{self.namespace}:{self.name}{version}{variant}"


class EnvSpec(BaseModel):
    """One environment as data, so that listing does not import it.

    `entry_point` is `"module:Class"`; `kwargs`, and `max_turns` if given, are its arguments; the last of the `wrappers`
    is outermost; `extra` is an optional dependency, such as `"gem-envs-math[data]"`.
    `id`, `description` and `tags` are for listing; `notes`, a line each, are what `gemx info` says beside them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    entry_point: str = Field(description="'module:Class', imported only when the environment is made")
    kwargs: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    max_turns: int | None = Field(default=None, ge=1, description="actions in an episode before it is truncated")
    wrappers: tuple[ComponentRef, ...] = Field(default=(), description="wrappers around it, the last one outermost")
    description: str = ""
    tags: tuple[str, ...] = ()
    extra: str | None = Field(default=None, description="the extra to install, such as 'gem-envs-math[data]'")
    notes: tuple[str, ...] = Field(default=(), description="such as what the library behind it does not allow")

    @model_validator(mode="before")
    @classmethod
    def _move_max_turns(cls, data: Any) -> Any:
        """Move `max_turns` from the kwargs to its field, so that equal specs compare equal."""
        if not isinstance(data, dict):
            return data
        given = cast("dict[str, Any]", data)
        kwargs = given.get("kwargs")
        if isinstance(kwargs, Mapping) and given.get("max_turns") is None:
            rest = dict(cast("Mapping[str, Any]", kwargs))
            if rest.get("max_turns") is not None:  # None means "no limit" here, and "not given" in the field
                return {**given, "max_turns": rest.pop("max_turns"), "kwargs": rest}
        return given

    @field_validator("id")
    @classmethod
    def _id_is_well_formed(cls, value: str) -> str:
        EnvId.parse(value)
        return value

    @field_validator("wrappers")
    @classmethod
    def _wrappers_have_names(cls, value: tuple[ComponentRef, ...]) -> tuple[ComponentRef, ...]:
        for wrapper in value:
            name_and_settings(wrapper)
        return value

    @field_validator("entry_point")
    @classmethod
    def _entry_point_is_well_formed(cls, value: str) -> str:
        if value != value.strip() or not is_import_path(value):
            raise ValueError(f"an entry point has the form 'module:Class', not {value!r}")
        return value

    @property
    def namespace(self) -> str:
        """The part of the id before the colon."""
        return EnvId.parse(self.id).namespace
