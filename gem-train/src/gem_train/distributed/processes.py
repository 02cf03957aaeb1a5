"""A run in several processes, which `torchrun` starts: each holds a part of the weights (FSDP2).

Objects are exchanged over gloo, which is exact and needs no GPU; tensors of a GPU over its own library.
"""

import os
import pickle
import signal
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard  # pyright: ignore[reportUnknownVariableType]
from torch.distributed.tensor import DTensor, distribute_tensor

from gem.errors import ConfigError, GemError, TrainingStopped
from gem_train.distributed.context import ONE_PROCESS, Context
from gem_train.distributed.world import ALONE, World
from gem_train.models.devices import find_device
from gem_train.runs.interrupts import Interrupts

T = TypeVar("T")

_LOST = ("gloo", "Connection closed by peer", "Connection reset by peer", "NCCL", "Timed out waiting", "Broken pipe")
"""Texts in errors of the exchange between processes."""


class _Terminated(RuntimeError):
    """torchrun ends this process, because another one has ended."""


def _terminate(*_: object) -> None:
    raise _Terminated("torchrun ended this process")


@contextmanager
def connect(device: str, timeout: float, context: int = 1) -> Generator[World]:
    """The processes that torchrun started with this one; alone, if it was not torchrun that started it.

    Args:
        device: that the weights are on, see `find_device`; each process of a machine takes a GPU of its own.
        timeout: how many seconds a process waits for the others, which may play longer episodes.
        context: how many of them compute the same micro-batches, see `gem_train.distributed.context`.

    Raises:
        ConfigError: there are not enough GPUs, or the processes cannot be divided into groups of `context`.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size % context:
        raise ConfigError(
            f"distributed.context={context} needs a multiple of {context} processes, and this run has {size}: start it "
            f"with torchrun --nproc-per-node {context}, or set distributed.context=1"
        )
    if size == 1:
        yield ALONE
        return
    target = own_device(device)
    backend = (
        "gloo" if target.type == "cpu" else f"cpu:gloo,{target.type}:{dist.get_default_backend_for_device(target)}"
    )
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout))
    world = Processes(target, timeout, context)
    # torchrun may see that another process has ended before this one misses it in an exchange.
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        with world.interrupts.deferred():
            yield world
    finally:
        signal.signal(signal.SIGTERM, previous)
    dist.destroy_process_group()


def own_device(name: str) -> torch.device:
    """The device of this process: the GPU that has its number among the processes of the machine, or the CPU.

    Raises:
        ConfigError: there are fewer GPUs than processes.
    """
    device = find_device(name)
    if device.type == "cpu" or ":" in name:
        return device
    index, count = int(os.environ.get("LOCAL_RANK", "0")), torch.accelerator.device_count()
    if index >= count:
        wanted = os.environ.get("LOCAL_WORLD_SIZE", "?")
        raise ConfigError(f"torchrun started {wanted} processes on a machine of {count} GPUs: --nproc-per-node {count}")
    torch.accelerator.set_device_index(index)
    return torch.device(device.type, index)


class Processes(World):
    """This process among those that torchrun started.

    Args:
        device: of this process.
        timeout: see `connect`.
        context: see `connect`.
    """

    def __init__(self, device: torch.device, timeout: float, context: int = 1) -> None:
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()
        self.command = f"torchrun --nproc-per-node {os.environ.get('LOCAL_WORLD_SIZE', self.size)} -m gem"
        self.interrupts = Interrupts()
        self._timeout = timeout
        # The weights are divided among all; the second mesh has a row for each group that computes the same.
        self._mesh = init_device_mesh(device.type, (self.size,))
        self._context = ONE_PROCESS
        if context > 1:
            groups = init_device_mesh(device.type, (self.size // context, context), mesh_dim_names=("data", "context"))
            self._context = Context(self.rank % context, context, groups.get_group("context"))

    @property
    def context(self) -> Context:
        return self._context

    def gather(self, value: T) -> list[T]:
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value)
        return found

    def first(self, work: Callable[[], T]) -> T:
        return self.gather(None if self.rank else work())[0]  # pyright: ignore[reportReturnType] - it is the first's

    def together(self, work: Callable[[], T]) -> list[T]:
        value: T | None = None
        error: BaseException | None = None
        try:
            with self.interrupts.allowed():
                value = work()
        except (Exception, KeyboardInterrupt) as caught:
            error = caught
        outcomes = self.gather((value, _as_sent(error)))
        errors = [raised for _, raised in outcomes if raised is not None]
        if any(isinstance(raised, KeyboardInterrupt) for raised in errors):
            raise KeyboardInterrupt
        if errors:
            raise error or errors[0]
        return [value for value, _ in outcomes]  # pyright: ignore[reportReturnType] - no error, so there is a value

    def sum(self, tensor: Tensor) -> Tensor:
        dist.all_reduce(tensor)
        return tensor

    def shard(self, model: nn.Module, blocks: Iterable[str]) -> None:
        names = set(blocks)
        policy = MixedPrecisionPolicy(reduce_dtype=torch.float32)  # also of gradients in bfloat16
        for module in list(model.modules()):
            if type(module).__name__ in names:
                fully_shard(module, mesh=self._mesh, mp_policy=policy)
        # By default the weights outside of blocks stay whole after a pass, and would be old ones if they change then.
        fully_shard(model, mesh=self._mesh, mp_policy=policy, reshard_after_forward=True)

    def collect(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        copies: dict[str, Tensor] = {}
        for name, tensor in weights.items():
            found = whole(tensor.detach())
            if not self.rank:
                copies[name] = found.to("cpu", copy=not isinstance(tensor, DTensor))
        return copies

    @contextmanager
    def guarded(self, advice: str) -> Generator[None]:
        try:
            yield
        except RuntimeError as error:
            lost = isinstance(error, _Terminated) or any(text in str(error) for text in _LOST)
            if isinstance(error, GemError) or not lost:
                raise
            raise TrainingStopped(
                f"another process of the run has ended, or did not answer for {self._timeout:g} seconds; it, or the "
                f"report of torchrun below, says why. {advice}"
            ) from error


def _as_sent(error: BaseException | None) -> BaseException | None:
    """An error as another process can raise it."""
    if error is None or isinstance(error, KeyboardInterrupt):
        return error
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:  # whatever the reason is that it cannot be sent
        return RuntimeError(f"{type(error).__name__} in another process: {error}")


def whole(tensor: Tensor) -> Tensor:
    """A tensor of which each process holds a part, put together; all of them must call it. Others as they are."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def own_part(tensor: Tensor, like: Tensor) -> Tensor:
    """The part of a whole `tensor`, divided as `like` is, that this process holds."""
    if not isinstance(like, DTensor):
        return tensor
    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements, src_data_rank=None)
