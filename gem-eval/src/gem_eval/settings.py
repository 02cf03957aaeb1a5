"""The settings of an evaluation, as data that its folder keeps."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from gem import seeding
from gem.errors import SpecError, did_you_mean
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.vector import BackendName

NUM_ENVS = 16
"""The default number of episodes at once, unless a chat API is asked."""

Prices = tuple[float, float] | tuple[float, float, float]
"""Per million tokens: of prompts, of replies, and of prompts that the server had cached (by default as others)."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _refs(given: Any) -> list[ComponentRef]:
    try:
        found: list[ComponentRef] = as_list(given)
        for each in found:
            name_and_settings(each)
    except SpecError as error:
        raise ValueError(str(error)) from error
    return found


Refs = Annotated[tuple[ComponentRef, ...], BeforeValidator(_refs)]
Count = Annotated[int, Field(ge=1, strict=True)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Group(_Data):
    """Environments that are played in the same way, with a `name` in a suite.

    `ids` are ids and patterns, such as `game:*-easy`. Of each, `episodes` items are played `k` times: seeds, or rows of
    a data set, no row twice. By default that is every row of a data set that has no more than `plan.MOST_ROWS`, and
    `plan.EPISODES` otherwise. With `each_row` it is every row. The environments have these `kwargs`, `tools` and
    `wrappers`; `max_turns` cuts their episodes off.
    """

    name: str = ""
    ids: Annotated[tuple[str, ...], BeforeValidator(as_list)]
    episodes: Count | None = None
    k: Count = 1
    each_row: bool = False
    max_turns: Count | None = None
    wrappers: Refs = ()
    tools: Refs = ()
    tool_args: Mapping[str, Any] = {}
    """Further arguments of `gem.ToolEnv`, that of the environment if it has one."""
    kwargs: Mapping[str, Any] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.ids:
            raise ValueError("no id was given; `gemx list` shows every one")
        if self.each_row and self.episodes is not None:
            raise ValueError("each_row plays as many episodes as there are rows: leave episodes out")
        return self

    @property
    def layers(self) -> list[ComponentRef]:
        """The wrappers of its environments, that of the tools innermost."""
        settings = {**({"tools": list(self.tools)} if self.tools else {}), **self.tool_args}
        return [*([{"name": "tool_env", **settings}] if settings else []), *self.wrappers]


class Budget(_Data):
    """Limits of one call, for all episodes together; what the folder holds already does not count."""

    max_tokens: Count | None = None
    """Most tokens of prompts and replies together."""
    max_cost: Amount | None = None
    """Highest cost, in the unit of `prices`."""
    max_minutes: Amount | None = None
    """Minutes since the first episode of the call."""
    prices: Prices | None = None
    """Prices of a million tokens."""

    @field_validator("prices", mode="before")
    @classmethod
    def _check_prices(cls, given: object) -> object:
        prices = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else ()
        numbers = all(isinstance(each, int | float) and 0 <= each < math.inf for each in prices)
        if given is not None and not (len(prices) in (2, 3) and numbers):
            raise ValueError("two numbers from 0 on, or three, such as 0.25,2")
        return cast("object", given)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_cost is not None and self.prices is None:
            raise ValueError("max_cost needs prices, those of a million tokens read and written, such as 0.25,2")
        return self


class Settings(_Data):
    """Settings that an evaluation depends on: a `model` plays `groups` from a `seed`, on a `backend`, in a `budget`."""

    model: ComponentRef
    groups: Annotated[tuple[Group, ...], Field(min_length=1)]
    reward: ComponentRef | None = None
    """Scores the episodes besides their envs; see `gem.rewards.make_pipeline`."""
    seed: int = Field(default=0, ge=0, lt=seeding.SEEDS)
    num_envs: Count | None = None
    """Most episodes at once; by default as many as `openai` makes requests, and `NUM_ENVS` with other models."""
    backend: BackendName = "sync"
    floors: bool = True
    """Measure random play and the expert on the same items."""
    budget: Budget = Budget()
    max_episodes: Count | None = None
    """Most episodes of the model in one call, beside the limits of `budget`."""
    widest: bool = False
    """Whether the next item of a group is of the id whose interval of success is the widest; else ids take turns."""
    models: Mapping[str, ComponentRef] = {}
    """Role → the model that plays it in environments and rewards, with `prices` of its own if it has others."""
    cache: str | None = None
    """A folder that keeps the answers of these models."""

    @field_validator("models")
    @classmethod
    def _check_models(cls, models: Mapping[str, ComponentRef]) -> Mapping[str, ComponentRef]:
        for role, model in models.items():
            if not role.isidentifier():
                raise ValueError(f"a role is a word, such as judge or user, not {role!r}")
            Budget(prices=name_and_settings(_refs(model)[0])[1].get("prices"))
        return models

    @model_validator(mode="after")
    def _check_cache(self) -> Self:
        if self.cache is not None and not self.models:
            raise ValueError("cache keeps the answers of models that play roles, and no role is set")
        return self

    @field_validator("groups")
    @classmethod
    def _check_names(cls, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        names = [group.name for group in groups]
        if len(set(names)) < len(names):
            raise ValueError("each of several needs a name of its own, by which its episodes are known")
        return groups


class TournamentSettings(_Data):
    """Settings that a tournament depends on: `policies` play the `game`, a group of one id, from a `seed`.

    Every line-up plays at least so many `games`: all seatings of each of as many seeds as that takes.
    """

    policies: Refs
    game: Group
    games: Count = 100
    seed: int = Field(default=0, ge=0, lt=seeding.SEEDS)
    num_envs: Count | None = None
    """Most games at once; by default as in `Settings`, by the policy that takes most."""
    budget: Budget = Budget()
    """Limits of one call, for all games together."""

    @field_validator("policies")
    @classmethod
    def _check_number(cls, policies: tuple[ComponentRef, ...]) -> tuple[ComponentRef, ...]:
        if len(policies) < 2:
            raise ValueError("a tournament needs two or more; one may be named twice, to play against itself")
        return policies


def in_words(error: ValidationError, where: str, known: Collection[str]) -> str:
    """The first fault of settings, in a line that begins with `where`; `known` has the names of those that exist."""
    fault = error.errors()[0]
    field = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        message = f"there is no such setting.{did_you_mean(field, known)} There are: {', '.join(known)}."
    elif fault["type"] == "missing":
        message = "it is missing"
    return ": ".join(part for part in (where, field, message) if part)
