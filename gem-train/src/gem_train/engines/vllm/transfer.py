"""Transfer of the learner's weights to vLLM servers: by NCCL between GPUs, or as files that both can read."""

import shutil
import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
from safetensors.torch import save_file
from torch import Tensor

from gem.errors import MissingExtra
from gem.work.threads import Threads
from gem_train.engines.vllm.client import ServerClient

Named = Sequence[tuple[str, Tensor]]

_FILE_BYTES = 2**31
"""Bytes of weights in one file, which are in memory a second time while they are written."""
_MEMORY = Path("/dev/shm")


class Transfer(ABC):
    """One way, for all servers of a run.

    Args:
        call: makes a call to all of them at once, such as `Fleet.call`.
        dtype: of the servers' weights, which they are sent in.
    """

    def __init__(self, call: Callable[..., object], dtype: torch.dtype) -> None:
        self._call, self._dtype = call, dtype

    @abstractmethod
    def send(self, weights: Named) -> None:
        """Replace the servers' weights; they must not sample meanwhile.

        Raises:
            TrainingStopped: no server answers, or one cannot load them.
        """

    def close(self) -> None:
        """Release what the transfer holds."""


class FileTransfer(Transfer):
    """Through files, which exist only while they are read; the servers have the worker extension of `weights`.

    Args:
        call, dtype: as of `Transfer`.
        folder: where to write, if not in memory; the servers must see it by the same path.
    """

    def __init__(self, call: Callable[..., object], dtype: torch.dtype, folder: str | None) -> None:
        super().__init__(call, dtype)
        self._folder = folder

    def send(self, weights: Named) -> None:
        self._call("/start_weight_update")
        with tempfile.TemporaryDirectory(prefix="gem-weights-", dir=self._place()) as folder:
            file = Path(folder) / "weights.safetensors"
            for part, last in _parts((name, tensor.detach().to("cpu", self._dtype)) for name, tensor in weights):
                save_file(part, file)
                self._call("/update_weights", {"update_info": {"path": str(file), "last": last}})
                file.unlink()
        self._call("/finish_weight_update")

    def _place(self) -> str | None:
        if self._folder is not None:
            return self._folder
        # Containers often have next to no memory there.
        roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > 2 * _FILE_BYTES
        return str(_MEMORY) if roomy else None


class NCCLTransfer(Transfer):
    """Transfer by vLLM's own engine for NCCL, from the learner's GPU to those of the servers, all in one group.

    The group is made anew for the sync after a server was lost, or is there again.

    Args:
        call, dtype: as of `Transfer`.
        members: the servers, each started with ``--weight-transfer-config '{"backend": "nccl"}'``, that `call` reaches.
        device: the learner's.

    Raises:
        MissingExtra: vLLM is not installed beside the learner.
    """

    def __init__(
        self,
        call: Callable[..., object],
        dtype: torch.dtype,
        members: Callable[[], Sequence[ServerClient]],
        device: torch.device,
    ) -> None:
        super().__init__(call, dtype)
        try:
            import vllm.distributed.weight_transfer.nccl_engine  # pyright: ignore[reportMissingImports]  # noqa: F401
        except ImportError as error:
            raise MissingExtra(
                f"engine.transfer = nccl needs vLLM beside the learner, too ({error}); docs/engines.md says how to "
                "install it. Where server and learner see the same folder, engine.transfer = files does not"
            ) from error
        self._source = _Source(dtype, device)
        self._members = members
        self._group: list[ServerClient] = []
        self._engine: Any = None

    def send(self, weights: Named) -> None:
        members = list(self._members())
        if members != self._group:
            self.close()
            self._engine, self._group = self._connected(members), members
        self._source.weights = weights
        with torch.no_grad():
            self._engine.send_weights()

    def _connected(self, members: Sequence[ServerClient]) -> Any:
        from vllm.distributed.weight_transfer.factory import (  # pyright: ignore[reportMissingImports]
            WeightTransferTrainerFactory,
        )
        from vllm.distributed.weight_transfer.nccl_engine import (  # pyright: ignore[reportMissingImports]
            NCCLTrainerInitInfo,
        )

        control = _ControlPlane(self._call, members)
        first = members[0].address
        host = _host_towards(first.url if first.socket is None else None)
        return WeightTransferTrainerFactory.trainer_init(
            NCCLTrainerInitInfo(host, _free_port(), control.workers + 1, rank=0), client=control, source=self._source
        )

    def close(self) -> None:
        if self._engine is not None:
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
    """The calls of vLLM's `VLLMWeightSyncClient`, to all servers."""

    def __init__(self, call: Callable[..., object], members: Sequence[ServerClient]) -> None:
        self._call, self._members = call, members
        counts = [int(each.call("/get_world_size", method="GET")["world_size"]) for each in members]
        self._offsets = list(accumulate(counts, initial=1))[:-1]
        self.workers = sum(counts)
        """Processes of all servers, which follow the learner in the group."""

    def init_weight_transfer_engine(self, init_info: dict[str, Any]) -> None:
        def join(member: ServerClient, offset: int) -> None:
            member.call("/init_weight_transfer_engine", {"init_info": {**init_info, "rank_offset": offset}})

        with closing(Threads("gem-nccl")) as threads:  # each waits for the others
            threads.map(join, self._members, self._offsets)

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
