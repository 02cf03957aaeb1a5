"""Memory that runs out becomes one line that says what to lower. Does not import torch."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from gem.errors import TrainingStopped
from gem_train.config.sources import flat
from gem_train.config.training import may_change

_TEXTS = (
    "can't allocate memory",  # the allocator of PyTorch for the CPU
    "not enough memory",  # the same, on Windows
    "Cannot allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "std::bad_alloc",
    "out of memory",
)
_SIZE = re.compile(r"(?:allocate|allocation of) (\d[\d.]*) ?([KMGTP]?i?B|bytes)")
_LOWER = {
    "load the model": ("model", "dtype", "lora.rank"),
    "play": ("rollout.num_envs", "engine", "rollout.max_new_tokens"),
    "learn": ("optim.checkpointing", "optim.offload", "optim.micro_tokens", "rollout.max_new_tokens", "lora.rank"),
}
"""Settings that memory depends on, by what was going on."""
_WORDS = {
    "model": "a smaller model",
    "dtype": "dtype=bfloat16",
    "lora.rank": "an adapter instead, lora.rank=16",
    "optim.checkpointing": "optim.checkpointing=true",
    "optim.offload": "optim.offload=true",
}
"""Changes of settings that are not lowered."""


@contextmanager
def enough_memory(doing: str, settings: Mapping[str, Any], resume_command: str) -> Generator[None]:
    """Turn an error of the allocator, of a GPU or of the CPU, into one that names the settings to change.

    Args:
        doing: "load the model", "play" or "learn".
        settings: those in force, as plain data.
        resume_command: resumes the run.

    Raises:
        TrainingStopped: memory ran out.
    """
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        size = _SIZE.search(str(error))
        wanted = f" ({_human(size[1], size[2])} more did not fit)" if size else ""
        now, restart = advice(doing, settings)
        parts = [f"resume with {' or '.join(now)}: {resume_command} --set …"] if now else []
        parts += [f"start again with {' or '.join(restart)}"] if restart else []
        raise TrainingStopped(
            f"out of memory, trying to {doing}{wanted}. What was saved is kept: {'; otherwise, '.join(parts)}. What "
            f"needs memory, for conversations of so many ids: {resume_command} --estimate 4096"
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """True if it says that memory could not be allocated: of a GPU, of the CPU, or of an engine around them."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError | OSError) and any(text in str(error) for text in _TEXTS)


def advice(doing: str, settings: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Changes after which less memory is needed, with the present values: on resuming, and in a new run."""
    now: list[str] = []
    restart: list[str] = []
    for wanted in _LOWER[doing]:
        for key, value in flat(settings).items():
            if key != wanted and not key.startswith(f"{wanted}."):
                continue
            if wanted in _WORDS:
                words = _WORDS[wanted] if value in (0, "float32") or wanted == "model" else None
            else:
                words = f"a smaller {key}" if isinstance(value, int | float) and not isinstance(value, bool) else None
            if words is not None:
                (now if may_change(key) else restart).append(f"{words} (now {value})")
    return now, restart


def _human(number: str, unit: str) -> str:
    if unit != "bytes":
        return f"{number} {unit}"
    return f"{float(number) / 2**30:.2f} GiB" if float(number) >= 2**30 else f"{float(number) / 2**20:.1f} MiB"
