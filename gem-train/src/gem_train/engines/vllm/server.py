"""`vllm_server`: vLLM in a process of its own, on other GPUs or another machine, as an engine.

Ids go to the server and come back with their log-probabilities; nothing is decoded on the way. While the weights
change, replies in progress are paused; then they are computed again with the new weights, and resume.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from gem.chat.encoder import ChatEncoder
from gem_train.engines.settings import ServerSettings
from gem_train.engines.vllm.adapter import VLLMAdapter
from gem_train.engines.vllm.connect import connect
from gem_train.engines.vllm.requests import Answer, RequestSampler
from gem_train.models.loading import DType
from gem_train.models.lora import has_adapter

_LOOK, _ALIVE = 5.0, 60.0
"""Seconds without a reply after which the server is asked whether it is well, and until it must have said so."""


class VLLMServerSampler(RequestSampler):
    """Samples with a vLLM server, which gets every new version of the weights.

    Args:
        model: a transformers causal language model that vLLM can run too; the first weights are its.
        chat, max_new_tokens, temperature, seed: as of `Sampler`.
        settings: of the engine.
        dtype: of the weights and arithmetic of a server that is started.

    Raises:
        ConfigError: the server does not start, or was not started as it must be.
        MissingExtra: aiohttp is not installed.
        TrainingStopped: the server does not answer.
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
    ) -> None:
        settings = settings or ServerSettings()
        positions = settings.max_model_len or int(model.config.max_position_embeddings)
        super().__init__(chat, max_new_tokens=max_new_tokens, temperature=temperature, positions=positions, seed=seed)
        with ExitStack() as stack:
            self._adapter = VLLMAdapter(model, settings.folder) if has_adapter(model) else None
            if self._adapter is not None:
                stack.callback(self._adapter.close)
            self._server = connect(model, chat, settings, self._adapter, positions, dtype)
            stack.callback(self._server.close)
            self._positions = min(positions, self._server.positions)
            parameters = model.named_parameters()
            self.load((pair for pair in parameters if self._adapter is None or "lora_" in pair[0]), 0)
            self._opened = stack.pop_all()

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        with self._server.explained(), torch.no_grad():
            call = self._server.client.call
            # A pause may clear the caches itself; that is left to the reset below, which every version promises.
            call("/pause?mode=keep&clear_cache=false")
            if self._adapter is not None:
                self._adapter.write(weights)
                call("/v1/load_lora_adapter", self._adapter.as_json())
            elif self._server.transfer is not None:
                self._server.transfer.send(list(weights))
            # Its keys and values are of the old weights.
            call("/reset_prefix_cache?reset_running_requests=true")
            call("/update_weight_version", {"new_version": str(version)})
            call("/resume")
        self.version = version

    def close(self) -> None:
        """Close the connections, and end a server that was started."""
        self._opened.close()

    def _ask(self, name: str, ids: Sequence[int], params: dict[str, Any]) -> None:
        adapter = {} if self._adapter is None else {"model": self._adapter.name}
        self._server.client.begin(name, {"token_ids": list(ids), "sampling_params": params, **adapter})

    def _cancel(self, name: str) -> None:
        self._server.client.cancel(name)

    def _step(self, timeout: float | None) -> None:
        """Wait for replies, at most so many seconds."""
        with self._server.explained():
            found = self._server.client.finished(_LOOK if timeout is None else min(_LOOK, timeout))
            if not found and (timeout is None or timeout > _LOOK):
                self._server.client.call("/health", method="GET", timeout=_ALIVE)
        for name, said in found:
            self._answered(name, _answer(said))


def _answer(said: dict[str, Any]) -> Answer:
    """Answer of the server to a request."""
    [choice] = said["choices"]
    versions = dict.fromkeys(int(span["version"]) for span in choice["weight_versions"])
    logprobs = tuple(float(each["logprob"]) for each in choice["logprobs"]["content"])
    return Answer(tuple(choice["token_ids"]), logprobs, choice["finish_reason"], tuple(versions))
