"""The server of a run: one that is started on this machine, or one that runs somewhere, and the way to it."""

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
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
from gem_train.engines.vllm.transfer import FileTransfer, NCCLTransfer, Transfer
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
_BREATH = 2.0
"""Seconds that a server which starts has for an answer: its socket exists long before anybody listens."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is ready, and what belongs to it."""

    client: ServerClient
    transfer: Transfer | None
    """Transfer of weights to it; None if it gets an adapter."""
    process: ServerProcess | None
    """The server itself, if it was started."""
    positions: int
    """The longest conversation, in ids."""
    close: Callable[[], None]
    """Closes the connections, and ends a server that was started."""

    @contextmanager
    def explained(self) -> Generator[None]:
        """Explain the failure of a server in calls of the client, and say how to continue."""
        try:
            yield
        except TrainingStopped as error:
            end = f" {self.process.last_words()}" if self.process is not None else ""
            raise TrainingStopped(
                f"{error}. The same command, with --out, resumes from the newest checkpoint.{end}"
            ) from error


def connect(
    model: PreTrainedModel,
    chat: ChatEncoder,
    settings: ServerSettings,
    adapter: VLLMAdapter | None,
    positions: int,
    dtype: DType,
) -> Server:
    """Start a server, or connect to the one that the settings name, and check that it can sample for training.

    Raises:
        ConfigError: it does not start, or cannot sample for training.
        MissingExtra: aiohttp, or what its transfer of weights needs, is not installed.
    """
    way = way_of(settings, model.device)
    process = None
    with ExitStack() as stack:
        if settings.url is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="gem-vllm-")))
            process = _start(model, chat, settings, adapter, positions, dtype, way, folder)
            stack.callback(process.close)
            address = Address("http://localhost", process.socket)
        else:
            address = Address(settings.url.rstrip("/").removesuffix("/v1"), key=os.environ.get(KEY))
        client = ServerClient(address, settings.timeout)
        stack.callback(client.close)
        if process is not None:
            process.wait_until(lambda: _is_well(client), settings.start_timeout)
        _end_update(client)
        described = _describe(client)
        transfer = None
        if adapter is None:
            kind = getattr(torch, str(described["dtype"]).removeprefix("torch."))
            if way == "nccl":
                transfer = NCCLTransfer(client, kind, model.device)
            else:
                transfer = FileTransfer(client, kind, settings.folder)
            stack.callback(transfer.close)
        return Server(client, transfer, process, int(described["max_model_len"]), stack.pop_all().close)


def way_of(settings: ServerSettings, device: torch.device) -> str:
    """The way of the weights from a learner on `device` to the server: a key of `BACKENDS`."""
    if settings.transfer != "auto":
        return settings.transfer
    apart = settings.url is not None or _devices(settings, device) is not None
    return "nccl" if device.type == "cuda" and apart else "files"


def _devices(settings: ServerSettings, device: torch.device) -> str | None:
    """The GPUs of a server that is started; None if it shares the learner's, or there is none."""
    if settings.devices is not None or device.type != "cuda":
        return settings.devices
    others = [str(index) for index in range(torch.cuda.device_count()) if index != (device.index or 0)]
    return ",".join(others[: settings.tensor_parallel_size]) or None


def _start(
    model: PreTrainedModel,
    chat: ChatEncoder,
    settings: ServerSettings,
    adapter: VLLMAdapter | None,
    positions: int,
    dtype: DType,
    way: str,
    folder: Path,
) -> ServerProcess:
    if find_spec("vllm") is None:
        raise MissingExtra(
            "the engine vllm_server starts a server, and vLLM is not installed: docs/engines.md says how to do that; "
            "or give engine.url, of a server that runs elsewhere"
        )
    cpu = not torch.cuda.is_available()
    if cpu:
        check_heads(model.config)
    own = folder / "model"
    save_without_weights(model, cast("Any", chat.tokenizer), str(own))
    devices = _devices(settings, model.device)
    arguments = {
        **(adapter.arguments() if adapter else {"model": own, "load_format": "dummy", **BACKENDS[way]}),
        "tokenizer": own,
        "tensor_parallel_size": settings.tensor_parallel_size,
        "enable_scale_out": True,
        **engine_arguments(settings, positions, dtype, cpu=cpu),
    }
    environment = {
        "VLLM_SERVER_DEV_MODE": "1",  # the calls that replace weights
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": str(int(adapter is not None)),
        **({"TORCHDYNAMO_DISABLE": "1"} if cpu else {}),  # compiling takes longer there than it saves
        **({} if devices is None else {"CUDA_VISIBLE_DEVICES": devices}),
    }
    return ServerProcess(arguments, environment, folder)


def _is_well(client: ServerClient) -> bool:
    try:
        client.call("/health", method="GET", timeout=_BREATH)
    except TrainingStopped:
        return False
    return True


def _end_update(client: ServerClient) -> None:
    """End an update of the weights that a learner left open when it was killed: the next could not begin."""
    for path, body in (("/finish_weight_update", {}), ("/update_weights", {"update_info": {"nothing": ""}})):
        # A server without one refuses both. The second is refused by all, and ends an update that cannot be finished.
        with suppress(TrainingStopped):
            client.call(path, body)
    with suppress(TrainingStopped):
        client.call("/resume")


def _describe(client: ServerClient) -> dict[str, Any]:
    """The server's `model_config`.

    Raises:
        ConfigError: it was not started for training.
    """
    where = client.address.url
    try:
        described = client.call("/server_info?config_format=json", method="GET")["vllm_config"]["model_config"]
        client.call(GENERATE, {"token_ids": [0], "sampling_params": {"max_tokens": 1, "temperature": 0}})
    except (TrainingStopped, TypeError, KeyError) as error:
        raise ConfigError(
            f"the vLLM server at {where} cannot sample for training: {error}. docs/engines.md says how to start it"
        ) from error
    if described["logprobs_mode"] != "processed_logprobs":
        raise ConfigError(
            f"the vLLM server at {where} gives log-probabilities of other distributions than it draws from: start it "
            "with --logprobs-mode processed_logprobs"
        )
    return described
