"""The settings of `gemx train`.

Later wins: the defaults, the preset of `--model tiny`, a TOML file, `--set key=value`.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Literal

from pydantic import Field, create_model

from gem import seeding
from gem.errors import ConfigError, did_you_mean
from gem.packs.importing import import_object
from gem_train.algorithms.lookup import find_algorithm
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.config.mix import EnvConfig, MixConfig, id_of_mix
from gem_train.config.sections import (
    ATTENTION,
    DistributedConfig,
    EvalConfig,
    LogConfig,
    LoraConfig,
    OptimConfig,
    RolloutConfig,
    RunConfig,
    WarmupConfig,
    WatchConfig,
    check_attention,
    check_lora,
    check_weights,
)
from gem_train.config.sources import merge, validate
from gem_train.engines import ENGINES
from gem_train.engines.settings import EngineSettings


class TrainConfig(RunConfig):
    """Everything that can be set for a run."""

    id: str = Field(description="the environment")
    algorithm: str = Field(default="rebn", description="its name or 'module:Class'; its settings are the table credit")
    model: str = Field(default="tiny", description="a path, a name on the Hugging Face hub, or 'tiny'")
    seed: int = Field(default=0, ge=0, lt=seeding.SEEDS)
    steps: int = Field(default=200, ge=1, description="batches that are played and learned from")
    device: str = Field(default="auto", description="'cpu', 'cuda', …; 'auto' takes a GPU if there is one")
    dtype: Literal["float32", "bfloat16"] = Field(default="float32", description="of the arithmetic")
    weights: Literal["float32", "bfloat16"] = Field(
        default="float32", description="type of the model's weights; in bfloat16 the optimizer keeps float32 copies"
    )
    attention: str = Field(default="auto", description=ATTENTION)
    threads: int | None = Field(default=None, ge=1, description="of the CPU; by default PyTorch's choice")
    checkpoint_every: int = Field(default=20, ge=1, description="steps between checkpoints")
    keep_checkpoints: int = Field(default=2, ge=1, description="how many of the newest are kept, beside the best")
    env: dict[str, Any] = Field(default_factory=dict, description="keyword arguments for the environment")
    wrappers: str | list[str | dict[str, Any]] = Field(
        default="", description="wrappers around it: names separated by commas, or tables of a name and settings"
    )
    mix: list[MixConfig] = Field(default_factory=list[MixConfig], description="several environments by weight")
    rollout: RolloutConfig = RolloutConfig()
    engine: EngineSettings = EngineSettings()
    credit: AlgorithmSettings = AlgorithmSettings()
    optim: OptimConfig = OptimConfig()
    lora: LoraConfig = LoraConfig()
    warmup: WarmupConfig = WarmupConfig()
    eval: EvalConfig = EvalConfig()
    watch: WatchConfig = WatchConfig()
    log: LogConfig = LogConfig()
    distributed: DistributedConfig = DistributedConfig()

    @property
    def evaluated(self) -> EnvConfig:
        """The environment of evaluations."""
        own = self.eval.env if self.eval.split is None else {**self.eval.env, "split": self.eval.split}
        wrappers = self.wrappers if self.eval.wrappers is None else self.eval.wrappers
        if self.eval.id is not None:
            return EnvConfig(self.eval.id, own, wrappers)
        mix = [each.model_copy(update={"env": {**each.env, **own}}) for each in self.mix]
        if self.eval.wrappers is not None:
            mix = [each.model_copy(update={"wrappers": ""}) for each in mix]
        return EnvConfig(self.id, {**self.env, **own}, wrappers, mix)

    @property
    def trained(self) -> EnvConfig:
        """The environment of training."""
        return EnvConfig(self.id, self.env, self.wrappers, self.mix)


MAY_CHANGE = (
    "steps",
    "threads",
    "attention",
    "checkpoint_every",
    "keep_checkpoints",
    "engine",
    "log",
    "watch",
    "distributed",
    "rollout.backend",
    "rollout.num_envs",
    "rollout.record",
    "rollout.record_tokens",
    "optim.micro_tokens",
    "optim.log_probs",
    "optim.checkpointing",
)
"""Settings, and tables of them, that may differ when a run is resumed: how it is computed, not what."""


def may_change(key: str) -> bool:
    """Whether a setting may differ when a run is resumed."""
    return any(key == name or key.startswith(f"{name}.") for name in MAY_CHANGE)


TINY: dict[str, Any] = {
    "device": "cpu",
    "threads": 1,
    "steps": 150,
    "rollout": {"max_new_tokens": 32},
    "credit": {"gamma": 1.0},
    "optim": {
        "lr": 4e-4,
        "lr_end": 1e-5,
        "entropy": 0.02,
        "entropy_end": 0.0,
        "max_kl": 0.02,
        "minibatches": 8,
    },
    "warmup": {"steps": 600},
}
"""The preset of `--model tiny`: settings that suit a small model of random weights."""


def load_config(sources: Iterable[Mapping[str, Any]]) -> TrainConfig:
    """Merge settings, later ones over earlier ones, and validate them.

    Raises:
        ConfigError: a key or an engine that does not exist (with the nearest that does), a value out of range, or
            values that do not fit each other.
        UnknownId, PackError: see `find_algorithm`.
    """
    merged = dict(id_of_mix(merge(sources)))
    if merged.get("model", "tiny") == "tiny":
        merged = merge([TINY, find_algorithm(_algorithm(merged)).tiny, merged])
    config = validate(_with_settings_of(_engine(merged), _algorithm(merged)), merged)
    _check_together(config)
    return config


def _engine(merged: Mapping[str, Any]) -> str:
    """The name of the engine in settings that are not validated yet."""
    play = merged.get("rollout")
    default = RolloutConfig().engine
    name = play.get("engine", default) if isinstance(play, Mapping) else default  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if name not in ENGINES:
        near = did_you_mean(str(name), ENGINES)  # pyright: ignore[reportUnknownArgumentType]
        raise ConfigError(f"there is no engine {name!r}.{near} Known: {', '.join(ENGINES)}")
    return str(name)  # pyright: ignore[reportUnknownArgumentType]


def _algorithm(merged: Mapping[str, Any]) -> str:
    """The name of the algorithm in settings that are not validated yet."""
    return str(merged.get("algorithm", TrainConfig.model_fields["algorithm"].default))


@cache
def _with_settings_of(engine: str, algorithm: str) -> type[TrainConfig]:
    """`TrainConfig` with the settings of this engine as its table `engine`, and of this algorithm as its `credit`."""
    settings = import_object(ENGINES[engine].settings)
    credit = find_algorithm(algorithm).Settings
    return create_model("TrainConfig", __base__=TrainConfig, engine=(settings, settings()), credit=(credit, credit()))


def _check_together(config: TrainConfig) -> None:
    check_lora(config.lora, config.model)
    check_weights(config.weights, config.dtype)
    check_attention(config.attention, config.dtype)
    play = config.rollout
    least = find_algorithm(config.algorithm).min_group_size
    if play.group_size < least:
        raise ConfigError(
            f"{config.algorithm} compares episodes that start alike: set rollout.group_size to at least {least}, such "
            f"as 8 (now {play.group_size})"
        )
    credit = config.credit
    if play.max_lag and credit.old_logprobs == "learner" and credit.importance_cap is None:
        raise ConfigError(
            "with rollout.max_lag replies come from older weights than the learner's: leave credit.old_logprobs at "
            "'engine', whose probability ratio corrects for it, or set credit.importance_cap, such as 2.0"
        )
    if play.episodes % play.group_size:
        raise ConfigError(
            f"rollout.episodes ({play.episodes}) must be a multiple of rollout.group_size ({play.group_size})"
        )
