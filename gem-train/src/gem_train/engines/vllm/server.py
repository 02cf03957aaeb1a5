"""`vllm_server`: vLLM in processes of its own, on other GPUs or other machines, as an engine.

Ids go to a server and come back with their log-probabilities; nothing is decoded on the way. While the weights
change, replies in progress are paused; then they are computed again with the new weights, and resume.
"""

import os
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem.chat.encoder import ChatEncoder
from gem.errors import ConfigError, Failure, TrainingStopped
from gem.work.threads import attempt
from gem_train.distributed.processes import whole
from gem_train.distributed.world import ALONE, World
from gem_train.engines.settings import ServerSettings
from gem_train.engines.vllm.adapter import VLLMAdapter
from gem_train.engines.vllm.client import Address
from gem_train.engines.vllm.connect import addresses, starter, way_of
from gem_train.engines.vllm.fleet import Fleet
from gem_train.engines.vllm.requests import Answer, RequestSampler
from gem_train.engines.vllm.transfer import FileTransfer, NCCLTransfer, Transfer
from gem_train.models.loading import DType
from gem_train.models.lora import has_adapter


class _Opened(NamedTuple):
    """Facts that the other processes of a run are told about its servers."""

    addresses: list[Address]
    positions: int
    """The longest conversation, in ids."""


class VLLMServerSampler(RequestSampler):
    """Samples with vLLM servers, which get every new version of the weights.

    In a run of several processes the first one starts the servers and sends them the weights, and all sample there.

    Args:
        model: a transformers causal language model that vLLM can run too; the first weights are its.
        chat, max_new_tokens, temperature, seed: as of `Sampler`.
        settings: of the engine.
        dtype: of the weights and arithmetic of servers that are started.
        world: the processes of the run; each of them makes a sampler, and calls `load`.

    Raises:
        ConfigError: a server does not start, or was not started as it must be.
        MissingExtra: aiohttp is not installed.
        TrainingStopped: no server answers.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        chat: ChatEncoder,
        *,
        max_new_tokens: int,
        temperature: float = 1.0,
        settings: ServerSettings | None = None,
        dtype: DType = "float32",
        seed: int = 0,
        world: World = ALONE,
    ) -> None:
        settings = settings or ServerSettings()
        positions = settings.max_model_len or int(model.config.max_position_embeddings)
        super().__init__(chat, max_new_tokens=max_new_tokens, temperature=temperature, positions=positions, seed=seed)
        self._world = world
        self._transfer: Transfer | None = None
        with ExitStack() as stack:
            self._adapter = VLLMAdapter(model, settings.folder) if has_adapter(model) else None
            if self._adapter is not None:
                stack.callback(self._adapter.close)
            opened = world.first(lambda: attempt(lambda: self._open(model, settings, positions, dtype, stack))).get()
            if world.rank:
                self._fleet = Fleet(opened.addresses, settings.timeout, first=world.rank)
                stack.callback(self._fleet.close)
            self._positions = min(positions, opened.positions)
            own = (
                (name, tensor) for name, tensor in model.named_parameters() if self._adapter is None or "lora_" in name
            )
            self.load(((name, whole(tensor.detach())) for name, tensor in own), 0)
            self._opened = stack.pop_all()

    def _open(
        self, model: PreTrainedModel, settings: ServerSettings, positions: int, dtype: DType, stack: ExitStack
    ) -> _Opened:
        """Start the servers, or connect to those of the settings, and prepare the way of the weights."""
        start = None
        if settings.urls:
            found = addresses(settings.urls)
        elif int(os.environ.get("LOCAL_WORLD_SIZE", self._world.size)) < self._world.size:
            raise ConfigError(
                "servers that a run starts are on one machine, and this run is on several: start them yourself, and "
                "give engine.urls; docs/engines.md says how"
            )
        else:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="gem-vllm-")))
            start = starter(
                model, self.chat, settings, self._adapter, positions, dtype, folder, processes=self._world.size
            )
            found = [
                Address("http://localhost", str(folder / str(index) / "socket")) for index in range(settings.replicas)
            ]
        self._fleet = fleet = Fleet(found, settings.timeout, start)
        stack.callback(fleet.close)
        described = fleet.open(settings.start_timeout)
        if self._adapter is None:
            kind = getattr(torch, described.dtype)
            if way_of(settings, model.device, self._world.size) == "nccl":
                self._transfer = NCCLTransfer(fleet.call, kind, lambda: fleet.members, model.device)
            else:
                self._transfer = FileTransfer(fleet.call, kind, settings.folder)
            stack.callback(self._transfer.close)
        return _Opened(found, described.positions)

    @torch.no_grad()
    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        if self._world.rank:
            deque(weights, maxlen=0)  # each is put together by all, and sent by the first
        given = self._world.first(lambda: attempt(lambda: self._give(weights, version)))
        with _explained():
            well = given.get()
        if self._world.rank:
            self._fleet.told(well, version)
        self.version = version

    def _give(self, weights: Iterable[tuple[str, Tensor]], version: int) -> list[bool]:
        """Send weights; which of the servers have them."""
        # All of them before a call that may fail: the others wait for each.
        on_device = self._world.size == 1 or isinstance(self._transfer, NCCLTransfer)
        whole = [(name, tensor if on_device else tensor.cpu()) for name, tensor in weights]

        def send() -> None:
            if self._adapter is not None:
                self._adapter.write(whole)
                self._fleet.call("/v1/load_lora_adapter", self._adapter.as_json())
            elif self._transfer is not None:
                self._transfer.send(whole)

        return self._fleet.sync(send, version, self._served)

    @property
    def _served(self) -> dict[str, str]:
        """Fields of a request that name what is served, if it is an adapter."""
        return {} if self._adapter is None else {"model": self._adapter.name}

    def close(self) -> None:
        """Close the connections, and end the servers that were started."""
        self._opened.close()

    def forget(self, slot: int) -> None:
        super().forget(slot)
        self._fleet.forget(slot)

    def _ask(self, name: str, ids: Sequence[int], params: dict[str, Any]) -> None:
        body = {"token_ids": list(ids), "sampling_params": params, **self._served}
        with _explained():
            self._fleet.begin(name, self._requests[name].slot, body)

    def _cancel(self, name: str) -> None:
        self._fleet.cancel(name)

    def _step(self, timeout: float | None) -> None:
        """Wait for replies, at most so many seconds."""
        with _explained():
            found = self._fleet.finished(timeout)
        for name, said in found:
            self._answered(name, said if isinstance(said, Failure) else _answer(said))


@contextmanager
def _explained() -> Generator[None]:
    """Say how to continue after the failure of a server."""
    try:
        yield
    except TrainingStopped as error:
        raise TrainingStopped(f"{error} The same command, with --out, resumes from the newest checkpoint.") from error


def _answer(said: dict[str, Any]) -> Answer:
    """Answer of the server to a request."""
    [choice] = said["choices"]
    versions = dict.fromkeys(int(span["version"]) for span in choice["weight_versions"])
    logprobs = tuple(float(each["logprob"]) for each in choice["logprobs"]["content"])
    return Answer(tuple(choice["token_ids"]), logprobs, choice["finish_reason"], tuple(versions))
