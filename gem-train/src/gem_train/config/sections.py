"""The tables of settings that runs have: their names and their defaults."""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gem.errors import ConfigError, did_you_mean

ATTENTION = "what computes the learner's attention in bfloat16, see `gem_train.learning.kernels`; auto by the device"
LOG_PROBS = "what computes log-probabilities from hidden states: GEM's own code, or liger-kernel (extra liger)"


class Section(BaseModel):
    """A table of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunConfig(Section):
    """All settings of a run, of whatever kind."""

    def as_data(self) -> dict[str, Any]:
        """Every setting as plain data, from which the same config can be made."""
        return self.model_dump(mode="json", exclude_none=True)


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
        default="template",
        description="whether a chat template may rewrite earlier messages (see gem.chat)",
    )
    template_kwargs: dict[str, Any] = Field(
        default_factory=dict, description="arguments of the chat template, such as enable_thinking = false"
    )
    max_lag: int = Field(
        default=0, ge=0, description="how many updates older than the weights an episode may be when it is learned from"
    )
    record: int = Field(default=4, ge=0, description="episodes of each step that go into episodes.jsonl")
    record_tokens: int = Field(
        default=1, ge=0, description="how many of them with the tokens of each reply, for `gemx view`"
    )


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
    log_probs: Literal["chunked", "liger"] = Field(default="chunked", description=LOG_PROBS)


class LoraConfig(Section):
    """A low-rank adapter that is trained instead of all weights; see `gem_train.models.lora`."""

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
    temperature: float | None = Field(
        default=None, ge=0, description="of sampling, 0 for the most likely tokens; by default that of training"
    )


class DistributedConfig(Section):
    """A run in several processes; see `gem_train.distributed.processes`."""

    timeout: float = Field(
        default=3600.0, gt=0, description="seconds that a process waits for the others, whose episodes may take longer"
    )


class WatchConfig(Section):
    """How a run that learns nothing or gets worse is handled; see `gem_train.runs.watch`."""

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


_KERNELS = ("auto", "sdpa", "varlen", "flash_attention_2", "flash_attention_3", "flash_attention_4")


def check_attention(attention: str, dtype: str) -> None:
    """Raises ConfigError if there is no such kernel, or it does not compute in `dtype`."""
    if attention not in _KERNELS and not re.fullmatch(r"[\w.-]+/[\w.-]+(@[\w.-]+)?", attention):
        raise ConfigError(
            f"there is no attention {attention!r}.{did_you_mean(attention, _KERNELS)} Known: {', '.join(_KERNELS)}, or "
            "the name of a kernel on the hub, such as kernels-community/flash-attn2"
        )
    if attention not in ("auto", "sdpa") and dtype != "bfloat16":
        raise ConfigError(f"attention={attention} computes in bfloat16: set dtype=bfloat16, too")


def check_weights(weights: str, dtype: str) -> None:
    """Raises ConfigError if weights of this type cannot be computed with in `dtype`."""
    if weights == "bfloat16" and dtype != "bfloat16":
        raise ConfigError("weights=bfloat16 computes in bfloat16: set dtype=bfloat16, too")
