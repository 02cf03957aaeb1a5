"""Settings of `gemx sft`. Imports nothing heavy."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from pydantic import Field

from gem.errors import ConfigError
from gem_train.config import devices
from gem_train.config.devices import Device
from gem_train.config.sections import RunConfig, Section, UpdateConfig, check_computation
from gem_train.config.sources import merge, validate


class DataConfig(Section):
    """The episodes that are imitated."""

    policy: str = Field(default="expert", description="who plays them: expert, random, a pack's own, or a model's path")
    episodes: int = Field(default=1000, ge=1, description="how many are played")
    recording: str = Field(default="", description="a file of recorded episodes, or the folder of an evaluation")
    successful: bool = Field(default=False, description="only those that succeeded")
    min_return: float | None = Field(default=None, description="only those with at least this return")
    held_out: float = Field(default=0.1, ge=0, lt=1, description="share that is not trained on; its loss is measured")


class SFTOptimConfig(UpdateConfig):
    """The optimizer and the updates."""

    episodes: int = Field(default=32, ge=1, description="in the batch of a step")
    loss: Literal["actions", "all"] = Field(default="actions", description="of which tokens; all: of observations too")


class SFTConfig(RunConfig):
    """The settings of `gemx sft`; the id is empty if a recording is imitated."""

    eval_every: int = Field(default=20, ge=1, description="steps between measurements of the loss of held-out episodes")
    checkpoint_every: int = Field(default=100, ge=1, description="steps between checkpoints")
    data: DataConfig = DataConfig()
    optim: SFTOptimConfig = SFTOptimConfig()  # pyright: ignore[reportIncompatibleVariableOverride] - it is frozen


_TINY: dict[str, Any] = {"device": "cpu", "threads": 1, "steps": 600, "optim": {"lr": 2e-3}}
"""The preset of `--model tiny`."""


def load_sft_config(
    sources: Iterable[Mapping[str, Any]], describe: Callable[[str], Device] = devices.describe
) -> SFTConfig:
    """Merge settings, later ones over earlier ones and all over the preset of the device, and validate them.

    Args:
        sources: of settings.
        describe: function from the setting `device` to what it is.

    Raises:
        ConfigError: a key that does not exist, a value out of range, or values that do not fit each other.
    """
    merged = merge(sources)
    if merged.get("model", "tiny") == "tiny":
        merged = merge([_TINY, merged])
    else:
        merged = merge([devices.preset(describe(str(merged.get("device", "auto"))), plays=False), merged])
    config = validate(SFTConfig, merged)
    check_computation(config)
    if bool(config.id) == bool(config.data.recording):
        raise ConfigError(
            "gemx sft imitates what is played on an environment or what a recording holds: give it an ID, such as "
            "game:GuessTheNumber-v0-easy, or --recording FILE, and not both"
        )
    if not config.id and (config.env or config.wrappers):
        raise ConfigError("env and wrappers are of episodes that are played; those of a recording are as they are")
    return config
