"""Settings of `gemx sft`. Imports nothing heavy."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import Field

from gem import seeding
from gem.errors import ConfigError
from gem_train.config.sections import (
    ATTENTION,
    LOG_PROBS,
    DistributedConfig,
    LogConfig,
    LoraConfig,
    RunConfig,
    Section,
    check_attention,
    check_lora,
    check_weights,
)
from gem_train.config.sources import merge, validate


class DataConfig(Section):
    """The episodes that are imitated."""

    policy: str = Field(default="expert", description="who plays them: expert, random, a pack's own, or a model's path")
    episodes: int = Field(default=1000, ge=1, description="how many are played")
    recording: str = Field(
        default="", description="a file of recorded episodes, or the folder of an evaluation, instead of playing"
    )
    successful: bool = Field(default=False, description="only those that succeeded")
    min_return: float | None = Field(default=None, description="only those with at least this return")
    held_out: float = Field(
        default=0.1, ge=0, lt=1, description="the share that is not trained on; its loss is measured"
    )


class SFTRolloutConfig(Section):
    """How episodes are played, and shown to the model."""

    num_envs: int = Field(default=128, ge=1, description="environments played at once")
    backend: Literal["sync", "thread", "process", "ray"] = Field(
        default="sync", description="where they run: thread for those that wait, as for tools (see the vector engine)"
    )
    history: Literal["template", "keep"] = Field(
        default="template",
        description="whether a chat template may rewrite earlier messages (see gem.chat)",
    )
    template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="arguments of the chat template, such as enable_thinking = false"
    )


class SFTOptimConfig(Section):
    """The optimizer and the updates."""

    lr: float = Field(default=1e-5, gt=0, description="learning rate at the first step; it falls linearly to 0")
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = Field(default=0.0, ge=0)
    grad_clip: float = Field(default=1.0, gt=0, description="the largest norm of a gradient")
    episodes: int = Field(default=32, ge=1, description="in the batch of a step")
    loss: Literal["actions", "all"] = Field(
        default="actions", description="of which tokens: those of the actions, or of the observations too"
    )
    micro_tokens: int = Field(default=8192, ge=1, description="ids in a forward pass; bounds memory, changes no result")
    log_probs: Literal["chunked", "liger"] = Field(default="chunked", description=LOG_PROBS)
    checkpointing: bool = Field(
        default=False, description="whether layers keep only their inputs, and are computed again for the gradient"
    )
    offload: bool = Field(
        default=False, description="whether the optimizer's copies of weights and moments are in the memory of the CPU"
    )


class SFTConfig(RunConfig):
    """Everything that can be set for `gemx sft`."""

    id: str = Field(default="", description="the environment that is played; none for a recording")
    model: str = Field(default="tiny", description="a path, a name on the Hugging Face hub, or 'tiny'")
    seed: int = Field(default=0, ge=0, lt=seeding.SEEDS)
    steps: int = Field(default=200, ge=1, description="updates of the weights")
    device: str = Field(default="auto", description="'cpu', 'cuda', …; 'auto' takes a GPU if there is one")
    dtype: Literal["float32", "bfloat16"] = "float32"
    weights: Literal["float32", "bfloat16"] = Field(
        default="float32", description="type of the model's weights; in bfloat16 the optimizer keeps float32 copies"
    )
    attention: str = Field(default="auto", description=ATTENTION)
    threads: int | None = Field(default=None, ge=1, description="of the CPU; by default PyTorch's choice")
    eval_every: int = Field(default=20, ge=1, description="steps between measurements of the loss of held-out episodes")
    checkpoint_every: int = Field(default=100, ge=1, description="steps between checkpoints")
    keep_checkpoints: int = Field(default=2, ge=1, description="how many of the newest are kept")
    env: dict[str, Any] = Field(default_factory=dict, description="keyword arguments for the environment")
    wrappers: str | list[str | dict[str, Any]] = Field(
        default="", description="wrappers around it: names separated by commas, or tables of a name and settings"
    )
    data: DataConfig = DataConfig()
    rollout: SFTRolloutConfig = SFTRolloutConfig()
    optim: SFTOptimConfig = SFTOptimConfig()
    lora: LoraConfig = LoraConfig()
    log: LogConfig = LogConfig()
    distributed: DistributedConfig = DistributedConfig()


_TINY: dict[str, Any] = {"device": "cpu", "threads": 1, "steps": 600, "optim": {"lr": 2e-3}}
"""The preset of `--model tiny`."""


def load_sft_config(sources: Iterable[Mapping[str, Any]]) -> SFTConfig:
    """Merge settings, later ones over earlier ones, and validate them.

    Raises:
        ConfigError: a key that does not exist, a value out of range, or values that do not fit each other.
    """
    merged = merge(sources)
    if merged.get("model", "tiny") == "tiny":
        merged = merge([_TINY, merged])
    config = validate(SFTConfig, merged)
    check_lora(config.lora, config.model)
    check_weights(config.weights, config.dtype)
    check_attention(config.attention, config.dtype)
    if bool(config.id) == bool(config.data.recording):
        raise ConfigError(
            "gemx sft imitates what is played on an environment or what a recording holds: give it an ID, such as "
            "game:GuessTheNumber-v0-easy, or --recording FILE, and not both"
        )
    if not config.id and (config.env or config.wrappers):
        raise ConfigError("env and wrappers are of episodes that are played; those of a recording are as they are")
    return config
