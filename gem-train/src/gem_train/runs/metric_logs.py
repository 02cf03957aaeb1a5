"""Logs of metrics besides `metrics.jsonl`: TensorBoard, and Weights & Biases if asked."""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gem.errors import ConfigError, MissingExtra
from gem_train.config.sections import LogConfig
from gem_train.runs.files import write

LINKS_OF_WANDB = "wandb/*run-*/logs/debug-core.log"
"""Links that W&B makes in a run's folder, to the log of its service, which several runs may share."""


class MetricLogs:
    """The logs of one run; each is opened when it is first written.

    Args:
        path: the run folder.
        settings: which logs.
        title: the run in a few words.
        config: every setting of the run, as plain data.
    """

    def __init__(self, path: Path, settings: LogConfig, title: str, config: Mapping[str, Any]) -> None:
        self._path = path
        self._settings = settings
        self._title = title
        self._config = config
        self._boards: dict[str, Any] = {}
        self._wandb: Any = None

    def open(self) -> None:
        """Open what can refuse to be opened, before a run begins.

        Raises:
            ConfigError: W&B cannot be reached, or wants a key.
            MissingExtra: it is not installed.
        """
        if self._settings.wandb and self._wandb is None:
            self._wandb = _open_wandb(self._path, self._settings.wandb_project, self._title, self._config)

    def write(self, phase: str, step: int, values: Mapping[str, float]) -> None:
        """Add the metrics of one step of a phase."""
        if self._settings.tensorboard:
            self._write_board(phase, step, values)
        self.open()
        if self._wandb is not None:
            # A step of its own for each phase; W&B's counter could not go back to the checkpoint of a killed run.
            self._wandb.define_metric(f"{phase}/*", step_metric=f"{phase}/step")
            self._wandb.log({f"{phase}/{name}": value for name, value in {**values, "step": step}.items()})

    def close(self) -> None:
        """Finish writing."""
        for board in self._boards.values():
            # The same numbers are in metrics.jsonl; a full disk has been reported where it was written.
            with suppress(OSError):
                board.close()
        if self._wandb is not None:
            self._wandb.finish()

    def _write_board(self, phase: str, step: int, values: Mapping[str, float]) -> None:
        from torch.utils.tensorboard.writer import SummaryWriter

        # One writer per phase: a resumed run purges the steps that it repeats, and a writer purges all its series.
        if phase not in self._boards:
            self._boards[phase] = SummaryWriter(str(self._path / "tensorboard" / phase), purge_step=step)
        for name, value in values.items():
            self._boards[phase].add_scalar(name, value, step)


def check_wandb() -> None:
    """Check that W&B is installed.

    Raises:
        MissingExtra: it is not.
    """
    try:
        found = find_spec("wandb") is not None
    except ValueError:
        found = False
    if not found:
        raise MissingExtra("log.wandb needs Weights & Biases: pip install 'gem-train[wandb]'")


def _open_wandb(path: Path, project: str, title: str, config: Mapping[str, Any]) -> Any:
    check_wandb()
    import wandb

    # So that a resumed run continues the same curves. Not for a run without a network, which W&B starts anew.
    known = path / "wandb" / "gem-run-id"
    if not known.exists():
        known.parent.mkdir(parents=True, exist_ok=True)
        write(known, secrets.token_hex(4).encode())
    try:
        return wandb.init(
            project=project,
            name=title,
            id=known.read_text(),
            resume="allow",
            dir=path,
            config=dict(config),
            settings=wandb.Settings(console="off"),
        )
    except wandb.Error as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ConfigError(
            f"cannot log to Weights & Biases: {reason}. `wandb login` sets the key; the environment variable "
            "WANDB_MODE=offline keeps the log in the run folder"
        ) from error
