"""`hf` and `vllm`: any model as a policy, sampled by transformers or by vLLM."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from transformers.utils import logging

from gem.chat.encoder import ChatEncoder, History
from gem.chat.tokenizer import ChatTokenizer
from gem.errors import ConfigError
from gem.rollout.policy import Policy
from gem_train.config.training import TrainConfig, load_config
from gem_train.engines.make import make_sampler
from gem_train.engines.sampler import Sampler
from gem_train.engines.settings import VLLMSettings
from gem_train.models.devices import find_device
from gem_train.models.loading import DType, load_model, load_tokenizer
from gem_train.policies.with_tokens import WithTokens
from gem_train.preflight import check_engine, check_model
from gem_train.runs.checkpoints import model_folder

ADAPTER = "adapter_config.json"
"""In the folder of a model that is an adapter over another."""

DTypeOrAuto = Literal["auto", "float32", "bfloat16"]


def hf_policy(
    model: str = "",
    *,
    temperature: float = 1.0,
    max_new_tokens: int = 1024,
    history: History = "template",
    template_kwargs: Mapping[str, Any] | None = None,
    device: str = "auto",
    dtype: DTypeOrAuto = "auto",
    seed: int = 0,
    logprobs: bool = False,
    rows: int | None = None,
) -> Policy:
    """A model, sampled by transformers.

    Args:
        model: a folder with a model or of a run, or a name on the Hugging Face hub.
        temperature: of sampling; 0 for the most likely tokens.
        max_new_tokens: the longest reply.
        history: whether the chat template may rewrite earlier messages; see `ChatEncoder`.
        template_kwargs: passed to the chat template, such as `{"enable_thinking": False}`.
        device: `cpu`, `cuda`, …; by default a GPU if there is one.
        dtype: of weights and arithmetic; by default bfloat16 on a GPU, float32 on a CPU.
        seed: of the sampling.
        logprobs: whether recordings get the tokens of the replies, with their log-probabilities.
        rows: conversations whose keys and values are kept; by default all that are played.

    Raises:
        ConfigError: there is no such model, or a setting is out of range.
    """
    play = {"max_new_tokens": max_new_tokens, "history": history, "template_kwargs": dict(template_kwargs or {})}
    return _policy("hf", model, play, {"rows": rows}, temperature, device, dtype, seed, logprobs)


def vllm_policy(
    model: str = "",
    *,
    temperature: float = 1.0,
    max_new_tokens: int = 1024,
    history: History = "template",
    template_kwargs: Mapping[str, Any] | None = None,
    dtype: DTypeOrAuto = "auto",
    seed: int = 0,
    logprobs: bool = False,
    max_model_len: int | None = None,
    max_num_seqs: int | None = None,
    kv_cache_gib: float | None = None,
    gpu_memory_utilization: float = 0.9,
    enforce_eager: bool | None = None,
) -> Policy:
    """A model, sampled by vLLM in this process, on a GPU if there is one.

    Args:
        model: a folder with a model or of a run, or a name on the Hugging Face hub.
        temperature: of sampling; 0 for the most likely tokens.
        max_new_tokens: the longest reply.
        history: whether the chat template may rewrite earlier messages; see `ChatEncoder`.
        template_kwargs: passed to the chat template, such as `{"enable_thinking": False}`.
        dtype: of weights and arithmetic; by default bfloat16 on a GPU, float32 on a CPU.
        seed: of the sampling.
        logprobs: whether recordings get the tokens of the replies, with their log-probabilities.
        max_model_len: the longest conversation, in ids; by default the model's limit.
        max_num_seqs: replies that are sampled at once.
        kv_cache_gib: GiB for keys and values.
        gpu_memory_utilization: share of the GPU's memory that vLLM may use.
        enforce_eager: whether it runs without CUDA graphs.

    Raises:
        ConfigError: there is no such model, vLLM cannot run it, or a setting is out of range.
        MissingExtra: vLLM is not installed.
    """
    play = {"max_new_tokens": max_new_tokens, "history": history, "template_kwargs": dict(template_kwargs or {})}
    engine = {
        "max_model_len": max_model_len,
        "max_num_seqs": max_num_seqs,
        "kv_cache_gib": kv_cache_gib,
        "gpu_memory_utilization": gpu_memory_utilization,
        "enforce_eager": enforce_eager,
    }
    return _policy("vllm", model, play, engine, temperature, "auto", dtype, seed, logprobs)


def _policy(
    engine: str,
    model: str,
    play: dict[str, Any],
    settings: dict[str, Any],
    temperature: float,
    device: str,
    dtype: DTypeOrAuto,
    seed: int,
    logprobs: bool,
) -> Policy:
    if not model:
        # It has a default, because a function with one required argument is taken for one that answers observations.
        raise ConfigError(f"the policy {engine} needs a model: {engine}:PATH, or {engine}:NAME of one on the hub")
    check_engine(engine)
    check_model(model)
    given = {name: value for name, value in settings.items() if value is not None}
    config = load_config([{"id": "any", "model": model, "rollout": {**play, "engine": engine}, "engine": given}])
    kind: DType = dtype if dtype != "auto" else "float32" if find_device(device).type == "cpu" else "bfloat16"
    logging.disable_progress_bar()  # the caller shows its own progress
    folder = model_folder(model)
    if engine == "vllm" and not (Path(folder) / ADAPTER).is_file():
        sampler = _read_by_vllm(folder, config, kind, temperature, seed)
    else:
        loaded = load_model(model, device="cpu" if engine == "vllm" else device, dtype=kind, weights=kind)
        sampler = make_sampler(loaded, config, seed, temperature=temperature)
    return WithTokens(sampler) if logprobs else sampler


def _read_by_vllm(model: str, config: TrainConfig, dtype: DType, temperature: float, seed: int) -> Sampler:
    """vLLM reads the weights by itself: without a copy beside its own, and also those that transformers cannot."""
    from gem_train.engines.vllm.in_process import VLLMSampler

    tokenizer, stop_ids = load_tokenizer(model)
    play = config.rollout
    chat = ChatEncoder(
        cast("ChatTokenizer", tokenizer), history=play.history, template_kwargs=play.template_kwargs, stop_ids=stop_ids
    )
    return VLLMSampler(
        model,
        chat,
        max_new_tokens=play.max_new_tokens,
        temperature=temperature,
        settings=cast("VLLMSettings", config.engine),
        dtype=dtype,
        seed=seed,
    )
