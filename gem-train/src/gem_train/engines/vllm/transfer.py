"""Transfer of the learner's weights to a vLLM server: by NCCL between GPUs, or as files that both can read."""

import shutil
import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
from safetensors.torch import save_file
from torch import Tensor

from gem.errors import MissingExtra
from gem_train.engines.vllm.client import ServerClient

Named = Sequence[tuple[str, Tensor]]

_FILE_BYTES = 2**31
"""Bytes of weights in one file, which are in memory a second time while they are written."""
_MEMORY = Path("/dev/shm")


class Transfer(ABC):
    """One way, for one server.

    Args:
        client: of the server.
        dtype: of the server's weights, which they are sent in.
    """

    def __init__(self, client: ServerClient, dtype: torch.dtype) -> None:
        self._client, self._dtype = client, dtype

    @abstractmethod
    def send(self, weights: Named) -> None:
        """Replace the server's weights; it must not sample meanwhile.

        Raises:
            TrainingStopped: the server does not answer, or cannot load them.
        """

    def close(self) -> None:
        """Release what the transfer holds."""


class FileTransfer(Transfer):
    """Through files, which exist only while they are read; the server has the worker extension of `weights`.

    Args:
        client, dtype: as of `Transfer`.
        folder: where to write, if not in memory; the server must see it by the same path.
    """

    def __init__(self, client: ServerClient, dtype: torch.dtype, folder: str | None) -> None:
        super().__init__(client, dtype)
        self._folder = folder

    def send(self, weights: Named) -> None:
        self._client.call("/start_weight_update")
        with tempfile.TemporaryDirectory(prefix="gem-weights-", dir=self._place()) as folder:
            file = Path(folder) / "weights.safetensors"
            for part, last in _parts((name, tensor.detach().to("cpu", self._dtype)) for name, tensor in weights):
                save_file(part, file)
                self._client.call("/update_weights", {"update_info": {"path": str(file), "last": last}})
                file.unlink()
        self._client.call("/finish_weight_update")

    def _place(self) -> str | None:
        if self._folder is not None:
            return self._folder
        # Containers often have next to no memory there.
        roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > 2 * _FILE_BYTES
        return str(_MEMORY) if roomy else None


class NCCLTransfer(Transfer):
    """Transfer by vLLM's own engine for NCCL, from the learner's GPU to those of the server.

    Args:
        client: of the server, which was started with ``--weight-transfer-config '{"backend": "nccl"}'``.
        dtype: as of `Transfer`.
        device: the learner's.

    Raises:
        MissingExtra: vLLM is not installed beside the learner.
        TrainingStopped: the server does not answer, or has another weight transfer.
    """

    def __init__(self, client: ServerClient, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(client, dtype)
        try:
            from vllm.distributed.weight_transfer.factory import (  # pyright: ignore[reportMissingImports]
                WeightTransferTrainerFactory,
            )
            from vllm.distributed.weight_transfer.nccl_engine import (  # pyright: ignore[reportMissingImports]
                NCCLTrainerInitInfo,
            )
        except ImportError as error:
            raise MissingExtra(
                f"engine.transfer = nccl needs vLLM beside the learner, too ({error}); docs/engines.md says how to "
                "install it. Where server and learner see the same folder, engine.transfer = files does not"
            ) from error
        self._source = _Source(dtype, device)
        workers = int(client.call("/get_world_size", method="GET")["world_size"])
        host = _host_towards(client.address.url if client.address.socket is None else None)
        self._engine: Any = WeightTransferTrainerFactory.trainer_init(
            NCCLTrainerInitInfo(host, _free_port(), workers + 1, rank=0),
            client=_ControlPlane(client),
            source=self._source,
        )

    def send(self, weights: Named) -> None:
        self._source.weights = weights
        with torch.no_grad():
            self._engine.send_weights()

    def close(self) -> None:
        self._engine.shutdown()


class _Source:
    """Weights that `NCCLTransfer` sends, as vLLM's `WeightSource`, of which no method needs to be inherited."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self.weights: Named = ()
        self._dtype, self._device = dtype, device

    def metadata(self) -> list[Any]:
        from vllm.distributed.weight_transfer.base import ParamMeta  # pyright: ignore[reportMissingImports]

        return [ParamMeta(name, self._dtype, tuple(tensor.shape)) for name, tensor in self.weights]

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        return ((name, tensor.detach().to(self._device, self._dtype)) for name, tensor in self.weights)


class _ControlPlane:
    """The calls of vLLM's `VLLMWeightSyncClient`."""

    def __init__(self, client: ServerClient) -> None:
        self._call = client.call

    def init_weight_transfer_engine(self, init_info: dict[str, Any]) -> None:
        self._call("/init_weight_transfer_engine", {"init_info": init_info})

    def start_weight_update(self) -> None:
        self._call("/start_weight_update")

    def update_weights(self, update_info: Any) -> None:
        self._call("/update_weights", {"update_info": update_info})

    def finish_weight_update(self, weight_version: str | None = None) -> None:
        self._call("/finish_weight_update", {"weight_version": weight_version})


def _parts(weights: Iterable[tuple[str, Tensor]]) -> Iterator[tuple[dict[str, Tensor], bool]]:
    """Weights by name, in parts of at most `_FILE_BYTES`, or of one tensor, and whether a part is the last."""
    part: dict[str, Tensor] = {}
    size = 0
    for name, tensor in weights:
        if part and size + tensor.nbytes > _FILE_BYTES:
            yield part, False
            part, size = {}, 0
        part[name] = tensor.contiguous()
        size += tensor.nbytes
    yield part, True


def _host_towards(url: str | None) -> str:
    """The address at which a server can reach this machine."""
    if url is None:
        return "127.0.0.1"
    parts = urlsplit(url)
    family, kind, _, _, there = socket.getaddrinfo(
        parts.hostname or "localhost", parts.port or 80, type=socket.SOCK_DGRAM
    )[0]
    with socket.socket(family, kind) as probe:
        probe.connect(there)  # sends nothing
        return str(probe.getsockname()[0])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])
