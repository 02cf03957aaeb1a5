"""Servers of a run: how one is started on this machine, what it must be fit for, and the way of the weights to it."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import torch
from transformers import PreTrainedModel

from gem.chat.encoder import ChatEncoder
from gem.errors import ConfigError, MissingExtra, TrainingStopped
from gem_train.engines.settings import ServerSettings
from gem_train.engines.vllm.adapter import VLLMAdapter
from gem_train.engines.vllm.client import GENERATE, Address, ServerClient
from gem_train.engines.vllm.launch import ServerProcess
from gem_train.engines.vllm.start import check_heads, engine_arguments, save_without_weights
from gem_train.models.loading import DType

KEY = "VLLM_API_KEY"
"""The environment variable with the key of a server that runs somewhere."""
BACKENDS: dict[str, dict[str, Any]] = {
    "nccl": {"weight_transfer_config": {"backend": "nccl"}},
    "files": {
        "weight_transfer_config": {"backend": "gem-files"},
        "worker_extension_cls": "gem_train.engines.vllm.weights.Extension",
    },
}
"""Arguments of a server for each way of the weights."""
_BOUND = "VLLM_CPU_OMP_THREADS_BIND"
"""The environment variable with the CPUs of vLLM."""
_BREATH = 2.0
"""Seconds that a server which starts has for an answer: its socket exists long before anybody listens."""


def addresses(urls: Sequence[str]) -> list[Address]:
    """Addresses of servers that run somewhere."""
    key = os.environ.get(KEY)
    return [Address(url.rstrip("/").removesuffix("/v1"), key=key) for url in urls]


def way_of(settings: ServerSettings, device: torch.device, processes: int = 1) -> str:
    """The way of the weights from a learner on `device` to the servers: a key of `BACKENDS`."""
    if settings.transfer != "auto":
        return settings.transfer
    apart = settings.urls or shares_of_gpus(settings, device, processes)[0] is not None
    return "nccl" if device.type == "cuda" and apart else "files"


def shares_of_gpus(settings: ServerSettings, device: torch.device, processes: int = 1) -> list[str | None]:
    """The GPUs of each server that is started; None where it shares the learner's, or there is none.

    Args:
        settings: of the servers.
        device: the learner's.
        processes: of the learner on this machine; several have the first GPUs.

    Raises:
        ConfigError: there are not enough.
    """
    count, each = settings.replicas, settings.tensor_parallel_size
    if settings.devices is not None:
        found = settings.devices.split(",")
    elif device.type != "cuda":
        return [None] * count
    else:
        own = range(processes) if processes > 1 else [device.index or 0]
        found = [str(index) for index in range(torch.cuda.device_count()) if index not in own][: count * each]
        if not found and count == 1:
            return [None]
    if len(found) < count * each:
        raise ConfigError(
            f"engine.replicas = {count} servers of engine.tensor_parallel_size = {each} need {count * each} GPUs, and "
            f"there are {len(found)} beside the learner's or in engine.devices"
        )
    share = len(found) // count
    return [",".join(found[number * share : (number + 1) * share]) for number in range(count)]


def _share_of_cpus(number: int, count: int) -> dict[str, str]:
    """Environment that binds a server to its share of the CPUs; alone it chooses for itself."""
    if count == 1 or _BOUND in os.environ or not hasattr(os, "sched_getaffinity"):
        return {}
    cpus = sorted(os.sched_getaffinity(0))
    share = cpus[number * len(cpus) // count : (number + 1) * len(cpus) // count] or [cpus[number % len(cpus)]]
    return {_BOUND: ",".join(map(str, share))}


def starter(
    model: PreTrainedModel,
    chat: ChatEncoder,
    settings: ServerSettings,
    adapter: VLLMAdapter | None,
    positions: int,
    dtype: DType,
    folder: Path,
    processes: int = 1,
) -> Callable[[int], ServerProcess]:
    """A function that starts the server of a number, in a folder of its own in `folder`.

    Args:
        model, chat: that it samples with.
        settings: of the servers.
        adapter: of the model, if it has one.
        positions: the longest conversation, in ids.
        dtype: of its weights and arithmetic.
        folder: which nobody else reads.
        processes: of the learner on this machine.

    Raises:
        ConfigError: vLLM cannot run the model here, or there are not enough GPUs.
        MissingExtra: vLLM is not installed.
    """
    if find_spec("vllm") is None:
        raise MissingExtra(
            "the engine vllm_server starts a server, and vLLM is not installed: docs/engines.md says how to do that; "
            "or give engine.urls, of servers that run elsewhere"
        )
    cpu = not torch.cuda.is_available()
    if cpu:
        check_heads(model.config)
    own = folder / "model"
    save_without_weights(model, cast("Any", chat.tokenizer), str(own))
    devices = shares_of_gpus(settings, model.device, processes)
    way = way_of(settings, model.device, processes)
    arguments = {
        **(adapter.arguments() if adapter else {"model": own, "load_format": "dummy", **BACKENDS[way]}),
        "tokenizer": own,
        "tensor_parallel_size": settings.tensor_parallel_size,
        "enable_scale_out": True,
        "disable_uvicorn_access_log": True,  # a line for every reply
        **engine_arguments(settings, positions, dtype, cpu=cpu),
    }
    environment = {
        "VLLM_SERVER_DEV_MODE": "1",  # the calls that replace weights
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": str(int(adapter is not None)),
        **({"TORCHDYNAMO_DISABLE": "1"} if cpu else {}),  # compiling takes longer there than it saves
    }

    def start(number: int) -> ServerProcess:
        share = devices[number]
        gpus = {} if share is None else {"CUDA_VISIBLE_DEVICES": share}
        cpus = _share_of_cpus(number, settings.replicas) if cpu and settings.tensor_parallel_size == 1 else {}
        place = folder / str(number)
        place.mkdir(exist_ok=True)
        return ServerProcess(arguments, {**environment, **gpus, **cpus}, place)

    return start


def is_well(client: ServerClient, seconds: float = _BREATH) -> bool:
    """True if a server says in so many seconds that it is well."""
    try:
        client.call("/health", method="GET", timeout=seconds)
    except TrainingStopped:
        return False
    return True


def end_update(client: ServerClient) -> None:
    """End an update of the weights that a learner left open when it was killed: the next could not begin."""
    for path, body in (("/finish_weight_update", {}), ("/update_weights", {"update_info": {"nothing": ""}})):
        # A server without one refuses both. The second is refused by all, and ends an update that cannot be finished.
        with suppress(TrainingStopped):
            client.call(path, body)
    with suppress(TrainingStopped):
        client.call("/resume")


def describe(client: ServerClient) -> dict[str, Any]:
    """The server's `model_config`.

    Raises:
        ConfigError: it was not started for training.
    """
    try:
        described = client.call("/server_info?config_format=json", method="GET")["vllm_config"]["model_config"]
        client.call(GENERATE, {"token_ids": [0], "sampling_params": {"max_tokens": 1, "temperature": 0}})
    except (TrainingStopped, TypeError, KeyError) as error:
        raise ConfigError(
            f"the vLLM server at {client.where} cannot sample for training: {error}. docs/engines.md says how to "
            "start it"
        ) from error
    if described["logprobs_mode"] != "processed_logprobs":
        raise ConfigError(
            f"the vLLM server at {client.where} gives log-probabilities of other distributions than it draws from: "
            "start it with --logprobs-mode processed_logprobs"
        )
    return described
