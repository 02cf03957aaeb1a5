"""A model and its tokenizer, from wherever the settings say."""

from contextlib import closing
from pathlib import Path
from pickle import UnpicklingError
from typing import NamedTuple, cast

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from gem import seeding
from gem.errors import ConfigError
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem_train.checkpoints import model_folder
from gem_train.config import TrainConfig
from gem_train.envs import make_envs
from gem_train.tiny import tiny_model, tiny_tokenizer

_TOKENIZER_EPISODES = 256


class Loaded(NamedTuple):
    """A causal language model, and the tokenizer that belongs to it."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def load_model(config: TrainConfig, source: Path | None = None, *, teacher: str = "random") -> Loaded:
    """The model that the settings name, on its device.

    Args:
        config: names the model, the device and the type of its numbers.
        source: a checkpoint's model to take instead, when a run goes on.
        teacher: the policy whose words the tokenizer of `tiny` is made for.

    Raises:
        ConfigError: there is no such model.
    """
    device = device_named(config.device)
    if config.model == "tiny" and source is None:
        tokenizer = _train_tokenizer(config, teacher)
        model = tiny_model(tokenizer, config.seed)
        return Loaded(_ready(model, device, config.dtype), tokenizer)
    name = str(source if source is not None else model_folder(config.model))
    try:
        # Else transformers asks whoever sits at the terminal whether to run code that lies beside a model.
        tokenizer = cast("PreTrainedTokenizerBase", AutoTokenizer.from_pretrained(name, trust_remote_code=False))
        loaded = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, trust_remote_code=False)
        model = cast("PreTrainedModel", loaded)
    except (OSError, ValueError, UnpicklingError) as error:
        raise ConfigError(
            f"cannot load the model {name!r}: {error}. Give the path of a folder with a model, "
            "a name on the Hugging Face hub, or 'tiny'"
        ) from error
    return Loaded(_ready(model, device, config.dtype), tokenizer)


def _ready(model: PreTrainedModel, device: torch.device, dtype: str) -> PreTrainedModel:
    model.to(device)  # pyright: ignore[reportArgumentType] - transformers wraps the method, and its type is lost
    if dtype == "bfloat16":
        # Weights stay float32, or small updates would be lost in rounding; sampler and learner compute alike.
        model.forward = torch.autocast(device.type, torch.bfloat16)(model.forward)
    # Never `train()`: dropout would make the probabilities at training differ from those at sampling.
    return model.eval()


def device_named(name: str) -> torch.device:
    """The device of a name that the settings have.

    Raises:
        ConfigError: PyTorch, as it is installed here, cannot use it.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"cannot use the device {name!r} with PyTorch {torch.__version__}: {reason}. 'auto' takes a GPU if this "
            "PyTorch can use one, and else the CPU; gem-train's README says how to choose a PyTorch for either"
        ) from error
    return device


def _train_tokenizer(config: TrainConfig, teacher: str) -> PreTrainedTokenizerFast:
    # What is imitated is what has to be spelt.
    seeds = (seeding.derive(config.seed, "tokenizer", index) for index in range(_TOKENIZER_EPISODES))
    with (
        closing(make_policy(teacher)) as policy,
        make_envs(config, config.rollout.num_envs, policy.info_methods) as envs,
    ):
        return tiny_tokenizer(rollout(policy, envs, seeds))
