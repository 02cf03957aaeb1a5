"""Tensors of a checkpoint in safetensors files, written by each process for its part, and read one at a time.

They are planned, written and read by torch.distributed.checkpoint, so that a run may resume with another number of
processes.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint.metadata import Metadata
from torch.utils._pytree import tree_map_with_path

from gem_train.distributed.processes import own_part
from gem_train.distributed.world import World

_FILE = 2**27
"""Bytes of a file, if no tensor is larger: a file is put together in memory before it is written."""
_NAME = "gem_stored"
"""Key of the name of a tensor that is stored elsewhere."""


def without_tensors(state: Any) -> tuple[Any, dict[str, Tensor]]:
    """A nested `state` with names in place of its tensors, and the tensors by name."""
    tensors: dict[str, Tensor] = {}

    def named(path: Iterable[Any], leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        name = _name(path)
        tensors[name] = leaf
        return {_NAME: name}

    return tree_map_with_path(named, state), tensors


def _name(path: Iterable[Any]) -> str:
    return ".".join(str(getattr(key, "key", getattr(key, "idx", key))) for key in path)


def planned(tensors: Mapping[str, Tensor], folder: Path, world: World) -> Callable[[], None]:
    """A function that writes this process's part of `tensors`, which all processes must call this with."""
    planner, writer = (
        DefaultSavePlanner(),
        HuggingFaceStorageWriter(str(folder), _files(tensors), save_distributed=True),
    )
    planner.set_up_planner(dict(tensors), writer.storage_meta(), is_coordinator=True)
    # Every process makes the same plan for all, which leaves out what several of them have.
    plans = world.gather(writer.prepare_local_plan(planner.create_local_plan()))
    own = writer.prepare_global_plan(planner.create_global_plan(plans)[0])[world.rank]

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        writer.set_up_storage_writer(is_coordinator=True)
        writer.write_data(planner.finish_plan(own), planner).wait()

    return write


def _files(tensors: Mapping[str, Tensor]) -> dict[str, int]:
    """The number of the file of each tensor, from 1."""
    files: dict[str, int] = {}
    number, size = 1, 0
    for name, tensor in tensors.items():
        if size and size + tensor.nbytes > _FILE:
            number, size = number + 1, 0
        files[name] = number
        size += tensor.nbytes
    return files


class Stored:
    """A tensor in the files of a checkpoint, which is not read yet."""

    def __init__(self, reader: HuggingFaceStorageReader, metadata: Metadata, name: str) -> None:
        self._reader, self._metadata, self._name = reader, metadata, name
        self.ndim = len(cast("Any", metadata.state_dict_metadata[name]).size)
        """Number of dimensions."""

    def read(self, target: Tensor) -> None:
        """Read it, or the part of it that this process holds, into `target`."""
        planner = DefaultLoadPlanner()
        planner.set_up_planner({self._name: target}, self._metadata, is_coordinator=True)
        self._reader.set_up_storage_reader(self._metadata, is_coordinator=True)
        self._reader.read_data(planner.finish_plan(planner.create_local_plan()), planner).wait()


def with_stored(plain: Any, folder: Path) -> Any:
    """What `without_tensors` was given, with `Stored` ones in place of its tensors, which `folder` holds.

    Raises:
        SafetensorError: a file is damaged.
        FileNotFoundError: a tensor is missing.
    """
    reader = HuggingFaceStorageReader(str(folder))
    metadata = reader.read_metadata() if folder.is_dir() else None

    def stored(value: Any) -> Any:
        if isinstance(value, dict):
            name = cast("dict[Any, Any]", value).get(_NAME)
            if name is None:
                return {key: stored(each) for key, each in cast("dict[Any, Any]", value).items()}
            if metadata is None or name not in metadata.state_dict_metadata:
                raise FileNotFoundError(f"{folder} lacks {name}")
            return Stored(reader, metadata, name)
        if isinstance(value, list | tuple):
            return type(value)(map(stored, cast("Iterable[Any]", value)))  # pyright: ignore[reportCallIssue]
        return value

    return stored(plain)


@torch.no_grad()
def fill(target: Tensor, source: "Tensor | Stored") -> None:
    """Copy a whole tensor, or the part of it that this process holds, into `target`; only this one is in memory."""
    if isinstance(source, Stored):
        source.read(target)
    else:
        target.copy_(own_part(source, target))
