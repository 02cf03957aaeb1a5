"""Estimate of the memory that a run will need, by part: `gemx train --estimate` and `gemx sft --estimate`.

Weights are not read; only the config of the model is.
"""

from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import AutoConfig, PretrainedConfig

from gem.errors import ConfigError
from gem_train.algorithms.lookup import find_algorithm
from gem_train.config.sections import RunConfig
from gem_train.config.training import TrainConfig
from gem_train.engines import ENGINES
from gem_train.engines.kv_cache import positions_for
from gem_train.engines.noise import draw
from gem_train.engines.settings import HFSettings, VLLMSettings
from gem_train.learning.kernels import Kernel, sdpa, shape_of, varlen
from gem_train.learning.simulation import Allocated, Passes, simulate
from gem_train.models.lora import base_of
from gem_train.models.tiny import tiny_model, tiny_tokenizer
from gem_train.runs.checkpoints import model_folder

When = Literal["always", "learning", "playing"]

_GRADIENT, _MOMENTS, _MASTER = 4, 8, 4
"""Bytes of the gradient, Adam's moments, and the optimizer's copy of a weight, for each number that is trained."""
_TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Part(NamedTuple):
    """Something that needs memory."""

    name: str
    bytes: int
    when: When


class Estimate(NamedTuple):
    """The memory of a run in one process."""

    ids: int
    """Ids of the longest conversations."""
    parts: list[Part]
    notes: list[str]

    def peak(self, when: When) -> int:
        """Bytes while the run is learning or playing."""
        return sum(part.bytes for part in self.parts if part.when in ("always", when))

    @property
    def phases(self) -> list[When]:
        """Phases of the run that need memory of their own."""
        return ["learning", *(["playing"] if any(part.when == "playing" for part in self.parts) else [])]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        peaks = {when: self.peak(when) for when in self.phases}
        return {"ids": self.ids, "parts": [part._asdict() for part in self.parts], "peak": peaks, "notes": self.notes}

    def as_text(self) -> str:
        """A table in GiB."""
        rows = [(part.name, part.bytes, part.when) for part in self.parts]
        rows += [(f"peak while {when}", self.peak(when), "") for when in self.phases]
        lines = [
            f"{'':<32}{'GiB':>9}",
            *(f"{name:<32}{size / 2**30:>9.3f}  {when}".rstrip() for name, size, when in rows),
        ]
        return "\n".join([*lines, *self.notes])


def estimate(config: RunConfig, ids: int, memory: int | None = None) -> Estimate:
    """Predict the memory of a run in one process, if its longest conversations have `ids` ids.

    A row of the learner is taken to be full, and every id of it to be trained on. Not counted: what a GPU's driver and
    kernels need (about 1 GiB), what the allocator leaves between tensors, and the CPU's memory of environments.

    Args:
        config: the settings.
        ids: in the longest conversations.
        memory: bytes of the device, of which vLLM takes a share; None if they are not known.

    Raises:
        ConfigError: the config of the model cannot be read, or simulated.
    """
    model = _config_of(config)
    notes: list[str] = []
    read = ids
    if isinstance(config, TrainConfig) and isinstance(config.engine, HFSettings):
        most = config.rollout.num_envs * ids  # of all conversations
        read = min(config.engine.prefill_tokens + config.rollout.num_envs, most)
    entropy = isinstance(config, TrainConfig) and bool(config.optim.entropy or config.optim.entropy_end)
    context = config.distributed.context
    whole, rest = divmod(max(config.optim.micro_tokens * context, ids), ids)
    passes = simulate(
        model,
        lengths=[ids] * whole + [rest] * bool(rest),
        read=read,
        dtype=_TYPES[config.dtype],
        weights=_TYPES[config.weights],
        lora=config.lora,
        checkpointing=config.optim.checkpointing,
        entropy=entropy,
        kernel=_kernel(config),
        context=context,
    )
    parts = [
        Part(f"weights ({passes.parameters / 1e6:,.1f} million)", passes.weights, "always"),
        Part("optimizer", _optimizer(config, passes), "always"),
        Part("gradients", _GRADIENT * passes.trained_numbers, "learning"),
        Part("activations", passes.update - passes.logits, "learning"),
        Part("logits of a chunk of tokens", passes.logits, "learning"),
    ]
    if config.optim.offload:
        notes.append(f"on the CPU: {(_MOMENTS + _MASTER) * passes.trained_numbers / 2**30:.3f} GiB for the optimizer")
    if context > 1:
        notes.append(
            f"activations and logits are those of one of {context} processes that share each sequence; the rest is "
            "what all of it needs"
        )
    if isinstance(config, TrainConfig):
        parts += _of_algorithm(config, passes)
        if isinstance(config.engine, HFSettings):
            parts += _of_play(config, config.engine, model, ids, passes)
        elif isinstance(config.engine, VLLMSettings) and memory is not None:
            share, when = config.engine.gpu_memory_utilization, "playing" if config.engine.sleep else "always"
            parts.append(Part("vLLM", int(share * memory), when))
        else:
            notes.append(
                f"the engine {config.rollout.engine} needs weights of its own, and what its settings give it for keys "
                "and values"
            )
    return Estimate(ids, parts, notes)


def _optimizer(config: RunConfig, passes: Passes) -> int:
    if config.optim.offload:
        return 0
    return (_MOMENTS + (_MASTER if config.weights != "float32" else 0)) * passes.trained_numbers


def _of_algorithm(config: TrainConfig, passes: Passes) -> list[Part]:
    algorithm = find_algorithm(config.algorithm)(config.credit)
    parts: list[Part] = []
    if "reference_logprobs" in algorithm.needs:
        parts.append(Part("weights of the reference", passes.trained, "always"))
    if algorithm.critic:
        moments = (_MOMENTS + (_MASTER if config.weights != "float32" else 0)) * passes.trained_numbers
        parts.append(Part("critic", passes.weights + moments, "always"))
        parts.append(Part("gradients of the critic", _GRADIENT * passes.trained_numbers, "learning"))
    return parts


def _of_play(
    config: TrainConfig, settings: HFSettings, model: PretrainedConfig, ids: int, passes: Passes
) -> list[Part]:
    rows = min(settings.rows or config.rollout.num_envs, config.rollout.num_envs)
    shape = shape_of(model)
    numbers = 2 * model.num_hidden_layers * rows * positions_for(ids) * shape.kv_heads * shape.head_dim
    with FakeTensorMode(), torch.no_grad(), Allocated([]) as drawing:
        draw(torch.zeros(rows, model.vocab_size), config.rollout.temperature, torch.zeros(rows, dtype=torch.float64))
    own = [Part("weights of the sampler", passes.weights, "always")] if config.rollout.asynchronous else []
    return [
        *own,
        Part("keys and values", numbers * _TYPES[config.dtype].itemsize, "playing"),
        Part("reading and sampling", passes.reading + drawing.most, "playing"),
    ]


def _kernel(config: RunConfig) -> Kernel:
    """The kernels of GPUs need the same memory."""
    on_gpu = config.device != "cpu" and (config.device != "auto" or torch.cuda.is_available())
    return varlen if on_gpu and config.dtype == "bfloat16" and config.attention != "sdpa" else sdpa


def _config_of(config: RunConfig) -> PretrainedConfig:
    if config.model == "tiny":
        engine = config.rollout.engine if isinstance(config, TrainConfig) else "hf"
        return tiny_model(tiny_tokenizer([]), 0, ENGINES[engine].tiny_head_dim).config
    name = model_folder(config.model)
    name = base_of(Path(name)) or name
    try:
        return cast("PretrainedConfig", AutoConfig.from_pretrained(name, trust_remote_code=False))
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read the config of the model {name!r}: {str(error).splitlines()[0]}") from error
