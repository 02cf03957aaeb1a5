"""Places of the checkpoints of a run folder. Reads only names of files, and does not import torch."""

import json
from pathlib import Path

from gem.errors import ConfigError
from gem.files import read_bytes

BEST = "best.json"
"""File in `checkpoint/`: `{"step": …, "success": …, "return": …}` of the best checkpoint so far."""


def checkpoints(run: Path) -> list[Path]:
    """The complete checkpoints of a run folder, oldest first: `checkpoint/step-N`."""
    found = [path for path in (run / "checkpoint").glob("step-*") if path.name.removeprefix("step-").isdigit()]
    return sorted(found, key=step_of)


def step_of(checkpoint: Path) -> int:
    """The number of steps before it was saved."""
    return int(checkpoint.name.removeprefix("step-"))


def best_checkpoint(run: Path) -> tuple[Path, float, float] | None:
    """The checkpoint with the best batches before it, their mean success and their mean return; None if not known."""
    try:
        best = json.loads(read_bytes(run / "checkpoint" / BEST, 2**20))
        path = run / "checkpoint" / f"step-{best['step']}"
    except (OSError, ValueError):
        return None
    return (path, best["success"], best["return"]) if path.is_dir() else None


def holds_model(folder: Path) -> bool:
    """True if a folder holds a model that transformers loads: all of it, or an adapter and the name of its base."""
    return (folder / "config.json").is_file() or (folder / "adapter_config.json").is_file()


def model_folder(name: str) -> str:
    """The folder with the model of a run folder (of its newest checkpoint) or of a checkpoint; otherwise `name` itself.

    Raises:
        ConfigError: the run folder holds no checkpoint yet.
    """
    path = Path(name).expanduser()
    if holds_model(path / "model"):
        return str(path / "model")
    if (path / "config.toml").is_file() and not holds_model(path):
        found = checkpoints(path)
        if not found:
            raise ConfigError(f"the run folder {path} holds no checkpoint yet; train it for a step first")
        return str(found[-1] / "model")
    return str(path) if path.is_dir() else name


def run_of(path: Path) -> Path | None:
    """The run folder that `path` is, or is a checkpoint or a model of, if it is one."""
    for folder in (path, *path.absolute().parents[:3]):
        if (folder / "config.toml").is_file():
            return folder
    return None
