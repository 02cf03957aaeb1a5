"""Starting vLLM in this process, and stopping it."""

import copy
import os
import random
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from gem.errors import ConfigError, MissingExtra
from gem_train.engines.settings import AnyVLLMSettings, VLLMSettings
from gem_train.engines.vllm.adapter import VLLMAdapter
from gem_train.models.loading import DType
from gem_train.runs.memory import is_out_of_memory

_GIB = 2**30
_SMALLEST_HEAD = 32
"""Dimensions that vLLM's attention on CPU takes. Below, it fails at the first reply."""

_ENVIRONMENT = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_NO_USAGE_STATS": "1"}
"""Environment variables that the user has not set: vLLM prints nothing but errors, and sends nothing."""


def start_copy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    settings: VLLMSettings,
    *,
    adapter: VLLMAdapter | None,
    positions: int,
    dtype: DType,
) -> Any:
    """A `vllm.v1.engine.llm_engine.LLMEngine` in this process for the architecture of `model`.

    It has no weights yet; if `model` has an adapter, it has those of the base.

    Args:
        model: of an architecture that vLLM has too.
        tokenizer: the model's.
        settings: of vLLM.
        adapter: of the model, if it has one.
        positions: the longest conversation, in ids.
        dtype: of weights and arithmetic.

    Raises:
        ConfigError, MissingExtra: see `start_engine`.
    """
    with TemporaryDirectory(prefix="gem-vllm-") as folder:
        save_without_weights(model, tokenizer, folder)
        own = {"model": folder, "load_format": "dummy", "weight_transfer_config": {"backend": "gem"}}
        source = {**(adapter.arguments() if adapter else own), "tokenizer": folder}
        return start_engine(source, model.config, settings, positions=positions, dtype=dtype)


def start_engine(
    source: Mapping[str, Any], config: PreTrainedConfig, settings: VLLMSettings, *, positions: int, dtype: DType
) -> Any:
    """The same for what `source`, of vLLM's `EngineArgs`, names: a model with its weights, or without.

    Raises:
        ConfigError: vLLM cannot run the model, or not with these settings.
        MissingExtra: vLLM is not installed.
    """
    # An engine in a process of its own would need a copy of the weights at each update.
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with _as_before():
        try:
            from vllm import EngineArgs  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]
            from vllm.platforms import current_platform  # pyright: ignore[reportMissingImports]
            from vllm.v1.engine.llm_engine import LLMEngine  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise MissingExtra(
                f"the engine vllm cannot import vLLM: {error}. docs/engines.md says how to install it"
            ) from error
        import_module("gem_train.engines.vllm.weights")  # makes the way of the weights known to vLLM

        if torch.distributed.is_available() and torch.distributed.is_initialized():
            raise ConfigError(
                "the engine vllm runs in one process; under torchrun, or while another vLLM is open, use "
                "--set rollout.engine=hf"
            )
        cpu = bool(current_platform.is_cpu())
        if cpu:
            check_heads(config)
        common = engine_arguments(settings, positions, dtype, cpu=cpu)
        arguments = EngineArgs(**source, enable_sleep_mode=settings.sleep and not cpu, **common)
        try:
            return LLMEngine.from_engine_args(arguments)
        except (ValueError, RuntimeError, NotImplementedError) as error:
            _clean_up()
            if is_out_of_memory(error):
                raise
            raise ConfigError(f"vLLM cannot run this model here: {' '.join(str(error).split())}") from error


def engine_arguments(settings: AnyVLLMSettings, positions: int, dtype: str, *, cpu: bool) -> dict[str, Any]:
    """Settings of vLLM that samples for training, wherever it runs; by the names of its `EngineArgs`."""
    gib = settings.kv_cache_gib or (1.0 if cpu else None)
    return {
        "dtype": dtype,
        "max_model_len": positions,
        "generation_config": "vllm",
        "logprobs_mode": "processed_logprobs",
        "enable_prefix_caching": True,
        "max_num_seqs": settings.max_num_seqs,
        "kv_cache_memory_bytes": gib and int(gib * _GIB),
        "gpu_memory_utilization": settings.gpu_memory_utilization,
        "enforce_eager": settings.enforce_eager or cpu,
        "async_scheduling": False,
        "disable_log_stats": True,
        # On CPU a request with a seed cannot be read in parts; so each must fit into a step.
        **({"enable_chunked_prefill": False, "max_num_batched_tokens": max(8192, positions)} if cpu else {}),
    }


def check_heads(config: PreTrainedConfig) -> None:
    """Raises ConfigError if vLLM's attention on CPU does not take the heads of a model."""
    own: Any = config
    head_dim = getattr(own, "head_dim", None) or own.hidden_size // own.num_attention_heads
    if head_dim < _SMALLEST_HEAD:
        raise ConfigError(
            f"vLLM on CPU needs heads of at least {_SMALLEST_HEAD} dimensions, and this model's have {head_dim}; use "
            "--set rollout.engine=hf"
        )


def stop_engine(engine: Any) -> None:
    """Free what the engine holds."""
    engine.engine_core.shutdown()
    _clean_up()


def _clean_up() -> None:
    from vllm.distributed.parallel_state import cleanup_dist_env_and_memory  # pyright: ignore[reportMissingImports]

    cleanup_dist_env_and_memory()


def save_without_weights(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: str) -> None:
    """Model that vLLM reads before the weights come, as they do at every update."""
    config = copy.deepcopy(model.config)
    config.architectures = [type(model).__name__.removeprefix("FSDP")]  # which a model that is divided has
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def _as_before() -> Generator[None]:
    """Keep what vLLM changes in a process that it takes for its own.

    On CPU it takes `torch.set_num_threads` away. It seeds all generators, and has warnings of its own to show.
    """
    function, state, shared = torch.set_num_threads, random.getstate(), np.random.get_state()  # noqa: NPY002 - others may use it
    try:
        with torch.random.fork_rng(), warnings.catch_warnings(action="ignore"):
            yield
    finally:
        torch.set_num_threads = function
        random.setstate(state)
        np.random.set_state(shared)  # noqa: NPY002
