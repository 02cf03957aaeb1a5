"""Settings: their names, their defaults, and where they come from.

Later wins: the defaults below, the preset of `--model tiny`, a TOML file, `--set key=value`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from gem import seeding
from gem.errors import ConfigError, did_you_mean
from gem.packs.importing import import_object
from gem_train.algorithms.lookup import find_algorithm
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.engines import ENGINES
from gem_train.engines.settings import EngineSettings
from gem_train.mix import EnvConfig, MixConfig, id_of_mix


class Section(BaseModel):
    """A table of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunConfig(Section):
    """All settings of a run, of whatever kind."""

    def as_data(self) -> dict[str, Any]:
        """Every setting as plain data, from which the same config can be made."""
        return self.model_dump(mode="json", exclude_none=True)


AnyConfig = TypeVar("AnyConfig", bound=RunConfig)


class RolloutConfig(Section):
    """How episodes are played."""

    episodes: int = Field(default=128, ge=1, description="episodes in the batch of a step")
    group_size: int = Field(default=1, ge=1, description="how many of them start from the same seed")
    num_envs: int = Field(default=128, ge=1, description="environments played at once")
    backend: Literal["sync", "thread", "process", "ray"] = Field(
        default="sync", description="where they run: thread for those that wait, as for tools (see the vector engine)"
    )
    engine: str = Field(default="hf", description="what samples the replies; its own settings are the table `engine`")
    max_new_tokens: int = Field(default=1024, ge=1, description="the longest reply, in tokens")
    temperature: float = Field(default=1.0, gt=0, description="of sampling, in training and in evaluation")
    history: Literal["template", "keep"] = Field(
        default="template", description="whether a chat template may rewrite earlier messages (see gem_train.chat)"
    )
    template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="arguments of the chat template, such as enable_thinking = false"
    )
    max_lag: int = Field(
        default=0, ge=0, description="how many updates older than the weights an episode may be when it is learned from"
    )
    record: int = Field(default=4, ge=0, description="episodes of each step that go into episodes.jsonl")


class OptimConfig(Section):
    """The optimizer and the updates."""

    lr: float = Field(default=1e-6, gt=0, description="learning rate at the first step")
    lr_end: float | None = Field(default=None, gt=0, description="and at the last, linearly; by default the same")
    entropy: float = Field(default=0.0, ge=0, description="weight of the entropy bonus at the first step")
    entropy_end: float | None = Field(default=None, ge=0, description="and at the last, linearly; by default the same")
    betas: tuple[float, float] = (0.9, 0.95)
    weight_decay: float = Field(default=0.0, ge=0)
    grad_clip: float = Field(default=1.0, gt=0, description="the largest norm of a gradient")
    max_kl: float | None = Field(
        default=None, gt=0, description="how far a batch may move the model; beyond, the rest of it is left out"
    )
    epochs: int = Field(default=1, ge=1, description="passes over a batch")
    minibatches: int = Field(default=4, ge=1, description="weight updates in a pass")
    checkpointing: bool = Field(
        default=False, description="whether activations are computed again for the gradient instead of kept"
    )
    offload: bool = Field(
        default=False, description="whether the optimizer's copies of weights and moments are in the memory of the CPU"
    )
    micro_tokens: int = Field(default=8192, ge=1, description="ids in a forward pass; bounds memory, changes no result")


class LoraConfig(Section):
    """A low-rank adapter that is trained instead of all weights; see `gem_train.lora`."""

    rank: int = Field(default=0, ge=0, description="of the adapter; 0 for none: all weights are trained")
    alpha: float | None = Field(
        default=None, gt=0, description="the adapter's output is multiplied by alpha / rank; by default alpha is 2 rank"
    )
    dropout: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="0, and nothing else: sampler and learner must compute the same probabilities",
    )
    targets: str = Field(
        default="all-linear",
        description="names of the linear layers that get one, separated by commas, as q_proj,v_proj",
    )


class WarmupConfig(Section):
    """Imitation before reinforcement: the model learns the environment's language from the play of a policy."""

    steps: int = Field(default=0, ge=0)
    episodes: int = Field(default=32, ge=1, description="in the batch of a step")
    lr: float = Field(default=2e-3, gt=0, description="learning rate at the first step; it falls linearly to 0")
    policy: str = Field(
        default="auto", description="the policy to imitate; auto: random play if it often succeeds, else the expert"
    )


class EvalConfig(Section):
    """How success is measured: before, after, and between."""

    episodes: int = Field(default=512, ge=1)
    every: int = Field(default=0, ge=0, description="steps between evaluations; 0: only before and after")
    id: str | None = Field(default=None, description="the environment, if it is another than that of training")
    split: str | None = Field(default=None, description="its keyword argument split, such as test")
    env: dict[str, Any] = Field(
        default_factory=dict, description="its keyword arguments; without an id of its own, over those of training"
    )
    wrappers: str | list[str | dict[str, Any]] | None = Field(
        default=None, description="wrappers around it; by default those of training"
    )
    temperature: float | None = Field(default=None, gt=0, description="of sampling; by default that of training")


class DistributedConfig(Section):
    """A run in several processes; see `gem_train.distributed`."""

    timeout: float = Field(
        default=3600.0, gt=0, description="seconds that a process waits for the others, whose episodes may take longer"
    )


class WatchConfig(Section):
    """How a run that learns nothing or gets worse is handled; see `gem_train.watch`."""

    stop: bool = Field(default=True, description="whether such a run is stopped; otherwise it is only reported")
    window: int = Field(default=10, ge=1, description="consecutive steps that are judged together")
    max_engine_gap: float = Field(
        default=0.1, gt=0, description="how far the sampler's log-probabilities may be from the learner's, on average"
    )


class LogConfig(Section):
    """Where metrics go besides metrics.jsonl."""

    tensorboard: bool = Field(default=True, description="into the run folder, for `tensorboard --logdir`")
    wandb: bool = Field(default=False, description="to Weights & Biases, which the extra gem-train[wandb] installs")
    wandb_project: str = Field(default="gem", min_length=1, description="the project there")


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
    threads: int | None = Field(default=None, ge=1, description="of the CPU; by default PyTorch's choice")
    checkpoint_every: int = Field(default=20, ge=1, description="steps between checkpoints")
    keep_checkpoints: int = Field(default=2, ge=1, description="how many of the newest are kept, beside the best")
    env: dict[str, Any] = Field(default_factory=dict, description="keyword arguments for the environment")
    wrappers: str | list[str | dict[str, Any]] = Field(
        default="", description="wrappers around it: names separated by commas, or tables of a name and settings"
    )
    mix: list[MixConfig] = Field(default_factory=list[MixConfig], description="several environments; see gem_train.mix")
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
    "checkpoint_every",
    "keep_checkpoints",
    "engine",
    "log",
    "watch",
    "distributed",
    "rollout.backend",
    "rollout.num_envs",
    "rollout.record",
    "optim.micro_tokens",
    "optim.checkpointing",
)
"""Settings, and tables of them, that may differ when a run is resumed: how it is computed, not what."""


def may_change(key: str) -> bool:
    """Whether a setting may differ when a run is resumed."""
    return any(key == name or key.startswith(f"{name}.") for name in MAY_CHANGE)


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings in tables as one mapping, by dotted names."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}  # pyright: ignore[reportUnknownArgumentType]
    return found


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


def merge(sources: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Settings in tables, later ones over earlier ones."""
    merged: dict[str, Any] = {}
    for source in sources:
        _merge(merged, source)
    return merged


def validate(model: type[AnyConfig], settings: Mapping[str, Any]) -> AnyConfig:
    """The config that `settings` are.

    Raises:
        ConfigError: a key that does not exist (with the nearest that does), or a value out of range.
    """
    try:
        return model.model_validate(settings)
    except ValidationError as error:
        problems = (_problem(details, model) for details in error.errors())
        raise ConfigError("; ".join(dict.fromkeys(problems))) from error


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


def check_lora(lora: LoraConfig, model: str) -> None:
    """Raises ConfigError if an adapter of these settings cannot be trained on `model`."""
    if lora.dropout:
        raise ConfigError(
            "lora.dropout must be 0: with dropout the learner would compute other probabilities than those that the "
            "sampler drew from"
        )
    if lora.rank and model == "tiny":
        raise ConfigError(
            "an adapter is added to a trained model, and 'tiny' begins with random weights: train it without lora.rank "
            "first, then start from it with --model and its run folder"
        )


def check_weights(weights: str, dtype: str) -> None:
    """Raises ConfigError if weights of this type cannot be computed with in `dtype`."""
    if weights == "bfloat16" and dtype != "bfloat16":
        raise ConfigError("weights=bfloat16 computes in bfloat16: set dtype=bfloat16, too")


def read_toml(path: Path) -> dict[str, Any]:
    """The settings in a file.

    Raises:
        ConfigError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the config file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not TOML: it is not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is not a config file: its values are nested too deeply") from error


def parse_setting(text: str) -> dict[str, Any]:
    """`"optim.lr=1e-3"` as nested settings. The value is read as TOML, or else as a plain string.

    Raises:
        ConfigError: there is no `=`.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set takes key=value, such as optim.lr=1e-3, not {text!r}")
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = value
    for part in reversed(key.strip().split(".")):
        parsed = {part: parsed}
    return parsed


def to_toml(config: RunConfig) -> str:
    """The whole config as TOML; `read_toml` and validation give the same config back."""
    return tomli_w.dumps(config.as_data())


def _merge(into: dict[str, Any], source: Mapping[str, Any]) -> None:
    for key, value in source.items():
        if isinstance(value, Mapping):
            inner = into.get(key)
            into[key] = dict(inner) if isinstance(inner, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType]
            _merge(into[key], value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            into[key] = value


def _problem(details: Any, section: type[BaseModel]) -> str:
    path = [str(part) for part in details["loc"]]
    if "wrappers" in path:  # pydantic reports an error for each type it could have
        return "wrappers is names separated by commas, or a list of tables: [[wrappers]], each with a name and settings"
    key = ".".join(path)
    if details["type"] == "missing":
        return f"{key} is not set"
    if details["type"] == "value_error":  # settings that do not fit each other
        return f"{key}: {details['ctx']['error']}"
    if details["type"] != "extra_forbidden":
        return f"{key} = {details['input']!r}: {details['msg'].lower()}"
    for part in path[:-1]:
        if part.isdigit():  # in a list of tables
            continue
        annotation = section.model_fields[part].annotation
        section = next(iter(get_args(annotation)), annotation)  # pyright: ignore[reportAssignmentType]: a model or a list of one
    prefix = key[: -len(path[-1])]
    known = [prefix + name for name in section.model_fields]
    return f"there is no setting {key!r}.{did_you_mean(key, known)} Known here: {', '.join(known)}"
