"""The floors of environments: how often random play and their experts succeed."""

import math
from collections.abc import Callable, Iterable, Mapping
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gem.dataset_env import to_download
from gem.errors import ConfigError, GemError
from gem.packs.discovery import Pack
from gem.packs.make import make
from gem.packs.spec import EnvSpec
from gem.rollout import rollout
from gem.rollout.policy import expert_policy, random_policy
from gem.rollout.report import Report
from gem.vector import make_vec

FILE = "floors.json"
"""A file of a pack, beside its plugin module: what `gemx list --pack PACK --floors N --json` printed."""

POLICIES = {"random": random_policy, "expert": expert_policy}


class Floors(BaseModel):
    """The success of random play and of the expert, over so many episodes of each id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    episodes: int
    """From the seeds 0, 1, … of each id."""
    floors: Mapping[str, Mapping[str, Annotated[float, Field(ge=0, le=1)] | None]]
    """Id → `random` and `expert`; None if there is none, or if it cannot be played on the machine that measured."""


def packaged_floors(pack: Pack) -> Floors | None:
    """The floors that a pack brings along, if it does.

    Raises:
        ConfigError: its file is something else.
    """
    package = pack.module.rpartition(".")[0]
    if not package or pack.state != "loaded":
        return None
    file = resources.files(package).joinpath(FILE)
    if not file.is_file():
        return None
    try:
        return Floors.model_validate_json(file.read_text("utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise ConfigError(f"{FILE} of {pack.distribution} cannot be read: {str(error).splitlines()[0]}") from error


def measure_floors(specs: Iterable[EnvSpec], episodes: int, say: Callable[[str], object]) -> Floors:
    """Play so many episodes of each spec at random and by its expert; `say` is called with each id before."""
    floors: dict[str, dict[str, float | None]] = {}
    for spec in specs:
        say(spec.id)
        floors[spec.id] = {name: _success(spec, name, episodes) for name in POLICIES}
    return Floors(episodes=episodes, floors=floors)


def _success(spec: EnvSpec, floor: str, episodes: int) -> float | None:
    policy = POLICIES[floor]()
    try:
        with make(spec) as env:
            if to_download(env) is not None:
                return None
        with make_vec(spec.id, 1, info_methods=policy.info_methods) as envs:
            played = list(rollout(policy, envs, range(episodes)))
    except GemError:  # an extra or data that are missing, or an env without an expert
        return None
    success = Report.of(played, id=spec.id, policy=floor, seed=0).success
    return None if math.isnan(success) else round(success, 4)
