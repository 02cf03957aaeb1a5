"""Devices that PyTorch computes on."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import torch

from gem.errors import ConfigError
from gem.packs.hookspecs import Diagnostic
from gem_train.config.devices import DRIVER


def find_device(name: str) -> torch.device:
    """The device `name`, such as `cpu` or `cuda`; `auto` is a GPU if there is one.

    Raises:
        ConfigError: PyTorch, as it is installed here, cannot use it.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"cannot use the device {name!r} with PyTorch {torch.__version__}: {reason}. 'auto' takes a GPU if this "
            "PyTorch can use one, and else the CPU; gem-train's README says how to choose a PyTorch for either"
        ) from error
    return device


@contextmanager
def torch_settings(wanted: int | None) -> Generator[None]:
    """Deterministic algorithms, and so many threads, while the run lasts."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(wanted or threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic)


def diagnose() -> Diagnostic:
    """Diagnosis for `gemx doctor`: the versions that training depends on, and the device that it uses by default."""
    device = find_device("auto")
    name = f"{device} ({torch.cuda.get_device_name()})" if device.type == "cuda" else str(device)
    installed = [f"{each} {version(each)}" for each in ("transformers", "peft") if _is_installed(each)]
    status = ", ".join([f"PyTorch {torch.__version__}", *installed, f"device {name}"])
    if device.type == "cpu" and DRIVER.exists():
        advice = "this PyTorch cannot use the NVIDIA GPU; gem-train's README says how to choose one that can"
        return Diagnostic(status=status, ok=False, details=(advice,))
    return Diagnostic(status=status)


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True
