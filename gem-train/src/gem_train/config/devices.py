"""The device of a run, and the settings that suit it where none are given. PyTorch is imported only beside a GPU."""

import os
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

DRIVER = Path("/proc/driver/nvidia/version")
"""Exists where Linux has a driver for NVIDIA's GPUs."""
_OTHERS = Path("/dev/kfd"), Path("/dev/dxg")
"""Files of a driver for AMD's, and in Windows' Linux of any."""
_ID = 10 * 2**20
"""Bytes of a GPU's memory for an id of a micro-batch: 8,192 of them on one of 80 GiB."""


class Device(NamedTuple):
    """A device that a run computes on."""

    name: str
    memory: int | None
    """Bytes; None if it is not known, as of a GPU that is not here."""
    is_gpu: bool

    @property
    def usable(self) -> int | None:
        """Bytes for tensors: a twentieth may be lost between them, and drivers and libraries need a GiB."""
        return None if self.memory is None else max(0, int(0.95 * self.memory) - 2**30)


def describe(device: str) -> Device:
    """The device that the setting `device` names; `auto` is a GPU if there is one."""
    if device.startswith("cuda") or (device == "auto" and _may_have_gpu()):
        # Imported here: it takes seconds, and most machines without a GPU are known by their files.
        import torch

        if torch.cuda.is_available():
            with suppress(RuntimeError, AssertionError, ValueError):  # which has no such number, as is said later
                found = torch.cuda.get_device_properties("cuda" if device == "auto" else device)
                return Device(found.name, found.total_memory, True)
        if device != "auto":
            return Device(device, None, True)
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None
    return Device("the CPU" if device in ("auto", "cpu") else device, pages, False)


def _may_have_gpu() -> bool:
    return os.name == "nt" or any(path.exists() for path in (DRIVER, *_OTHERS))


def preset(device: Device, *, plays: bool) -> Mapping[str, Any]:
    """The settings of a run with a trained model on this device, under those that are given.

    Args:
        device: a GPU, or something else, which needs none.
        plays: whether the run samples replies.
    """
    if not device.is_gpu:
        return {}
    optim: dict[str, Any] = {"checkpointing": True}
    if device.memory is not None:
        optim["micro_tokens"] = max(1024, 2 ** round(log2(device.memory / _ID)))
    found: dict[str, Any] = {"dtype": "bfloat16", "optim": optim}
    # In several processes vLLM runs as servers, which need GPUs of their own.
    if plays and find_spec("vllm") is not None and os.environ.get("WORLD_SIZE", "1") == "1":
        found["rollout"] = {"engine": "vllm"}
    return found
