"""A model and its tokenizer, from wherever the settings say."""

from pathlib import Path
from typing import NamedTuple, cast

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from gem import seeding
from gem.errors import ConfigError
from gem.policy import random_policy
from gem.rollout import rollout
from gem.vector import make_vec
from gem_train.config import TrainConfig
from gem_train.tiny import tiny_model, tiny_tokenizer

_TOKENIZER_EPISODES = 256


class Loaded(NamedTuple):
    """A causal language model, and the tokenizer that belongs to it."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def load_model(config: TrainConfig, source: Path | None = None) -> Loaded:
    """The model that the settings name, on its device.

    Args:
        config: names the model, the device and the type of its numbers.
        source: a checkpoint's model to take instead, when a run goes on.

    Raises:
        ConfigError: there is no such model.
    """
    device = torch.device(_device(config.device))
    if config.model == "tiny" and source is None:
        tokenizer = _train_tokenizer(config)
        model = tiny_model(tokenizer, config.seed)
        return Loaded(_ready(model, device), tokenizer)
    name = str(source) if source is not None else config.model
    dtype = torch.bfloat16 if config.dtype == "bfloat16" else torch.float32
    try:
        tokenizer = cast("PreTrainedTokenizerBase", AutoTokenizer.from_pretrained(name))
        model = cast("PreTrainedModel", AutoModelForCausalLM.from_pretrained(name, dtype=dtype))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"cannot load the model {name!r}: {error}. Give the path of a folder with a model, "
            "a name on the Hugging Face hub, or 'tiny'"
        ) from error
    return Loaded(_ready(model, device), tokenizer)


def _ready(model: PreTrainedModel, device: torch.device) -> PreTrainedModel:
    # Never `train()`: dropout would make the probabilities at training differ from those at sampling.
    model.to(device)  # pyright: ignore[reportArgumentType] - transformers wraps the method, and its type is lost
    return model.eval()


def _device(name: str) -> str:
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "cpu"


def _train_tokenizer(config: TrainConfig):
    policy = random_policy()
    seeds = (seeding.derive(config.seed, "tokenizer", index) for index in range(_TOKENIZER_EPISODES))
    with make_vec(config.id, config.rollout.num_envs, hints=policy.hints, **config.env) as envs:
        return tiny_tokenizer(rollout(policy, envs, seeds))
