"""The run folder: everything a run leaves behind, in files that any tool can read.

```
config.toml      every setting that was in force
metrics.jsonl    one object a line: {"phase": "warmup" | "train", "step": …}
episodes.jsonl   some episodes of every step, and all of the last evaluation: a recording (see `gem.record`)
tensorboard/     the same metrics
checkpoint/      the newest state to go on from, and the best; the `model` folder in each loads with transformers
curve.png        success against steps
summary.json     what came of it
```

Everything that is written can be cut off at any moment: lines are appended whole, other files appear at once, and a
checkpoint counts only when it is complete.
"""

import json
import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import torch
from safetensors import SafetensorError
from torch.utils.tensorboard.writer import SummaryWriter

from gem.errors import ConfigError, TrainingStopped
from gem.record import EpisodeRecord, Recorder, read
from gem.rollout.transcript import Episode
from gem_train.checkpoints import BEST, best_checkpoint, checkpoints, step_of
from gem_train.config import TrainConfig, read_toml, to_toml
from gem_train.models import Loaded


class RunFolder:
    """The files of one run.

    Args:
        path: the folder; `claim` makes it if it does not exist.
        config: of the run. A folder that holds a checkpoint or a summary already must hold this run's; only `steps`
            may differ, as long as the run has not made more already.

    Raises:
        ConfigError: the folder holds a run with other settings, or something that is no run.
    """

    def __init__(self, path: Path, config: TrainConfig) -> None:
        self.path = path
        self._config = config
        self._boards: dict[str, SummaryWriter] = {}
        self._recorder: Recorder | None = None
        self._steps = config.steps
        """That the folder's own settings name."""
        if (path / "config.toml").exists():
            if self.newest_checkpoint() is not None or (path / "summary.json").exists():
                self._steps = self._accept(read_toml(path / "config.toml"))
        elif path.exists() and (not path.is_dir() or any(file.suffix != ".partial" for file in path.iterdir())):
            raise ConfigError(f"{path} exists and is not the folder of a run; choose another --out")

    def _accept(self, old: dict[str, Any]) -> int:
        """See that `old` settings are the run's, and return the steps they name."""
        steps, config = old.get("steps", 0), self._config
        _refuse_other(self.path, {**old, "steps": config.steps}, config)
        newest = self.newest_checkpoint()
        if newest is not None and config.steps < step_of(newest):
            raise ConfigError(
                f"the run in {self.path} has made {step_of(newest)} steps already; give more --steps to extend it"
            )
        return steps

    def claim(self) -> None:
        """Make the folder this run's. Done when the settings have proved good, so that a typo claims nothing."""
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / "summary.json").unlink(missing_ok=True)
            _write(self.path / "config.toml", to_toml(self._config).encode())

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Whatever cannot be written is one clear line."""
        try:
            yield
        except (OSError, SafetensorError, RuntimeError) as error:
            # torch says RuntimeError of a disk that is full, and safetensors has an error of its own.
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
            newest = self.newest_checkpoint()
            again = f"goes on from step {step_of(newest)}" if newest else "begins anew"
            raise TrainingStopped(
                f"cannot write the run folder {self.path}: {reason}. When that is solved, the same command with "
                f"--out {self.path} {again}"
            ) from error

    @property
    def curve(self) -> Path:
        """Where the learning curve goes."""
        return self.path / "curve.png"

    def draw(self, plot: Callable[[Path], None]) -> None:
        """Draw the learning curve with `plot`, which writes it to the path that it is given."""
        with self._writing():
            partial = self.path / ".curve.partial.png"
            plot(partial)
            partial.replace(self.curve)

    def summary(self) -> dict[str, Any] | None:
        """What came of the run, if it has finished with the steps that are asked for."""
        path = self.path / "summary.json"
        return json.loads(path.read_text("utf-8")) if path.exists() and self._steps == self._config.steps else None

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write what came of the run; the run has finished."""
        with self._writing():
            _write_json(self.path / "summary.json", summary)

    def metrics(self, phase: str) -> list[dict[str, Any]]:
        """The metrics that were written for a phase."""
        return [line for line in _lines(self.path / "metrics.jsonl") if line["phase"] == phase]

    def write_metrics(self, phase: str, step: int, values: Mapping[str, float]) -> None:
        """Append the metrics of one step."""
        with self._writing():
            _append(self.path / "metrics.jsonl", {"phase": phase, "step": step, **values})
            # A writer a phase, because purging what a resumed run does again cuts every series of a writer.
            if phase not in self._boards:
                self._boards[phase] = SummaryWriter(str(self.path / "tensorboard" / phase), purge_step=step)
            for name, value in values.items():
                self._boards[phase].add_scalar(name, value, step)  # pyright: ignore[reportUnknownMemberType]

    def write_episode(self, step: int, episode: Episode, *, phase: str) -> None:
        """Append one episode to the recording, labelled with its phase and step."""
        with self._writing():
            if self._recorder is None:
                self._recorder = Recorder(self._episodes, policy=self._config.model)
            self._recorder.write(episode, {"phase": phase, "step": step})

    def save_checkpoint(
        self, loaded: Loaded, state: Mapping[str, Any], step: int, went: tuple[float, float] | None = None
    ) -> None:
        """Save what the run needs to go on from `step`, and remove the older ones but for the best.

        Args:
            loaded: the model and its tokenizer.
            state: of the learner and the run.
            step: how many steps have been made.
            went: mean success and return of the batches since the checkpoint before; the highest is the best.
        """
        folder = self.path / "checkpoint"
        partial, complete = folder / f".step-{step}", folder / f"step-{step}"
        if complete.exists():
            return
        with self._writing():
            try:
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir(parents=True)
                loaded.model.save_pretrained(partial / "model")
                loaded.tokenizer.save_pretrained(str(partial / "model"))
                torch.save(dict(state), partial / "state.pt")
                for file in partial.rglob("*"):
                    _sync(file)
                partial.rename(complete)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
            _sync(folder)
            best = best_checkpoint(self.path)
            if went is not None and (best is None or went >= best[1:]):
                _write(
                    folder / BEST, json.dumps({"step": step, "success": went[0], "return": went[1]}).encode() + b"\n"
                )
                best = (complete, *went)
            for old in checkpoints(self.path):
                if old not in (complete, best and best[0]):
                    shutil.rmtree(old)

    def newest_checkpoint(self) -> Path | None:
        """The folder of the checkpoint to go on from, if there is one."""
        found = checkpoints(self.path)
        return found[-1] if found else None

    @property
    def _episodes(self) -> Path:
        return self.path / "episodes.jsonl"

    def episodes(self, phase: str) -> list[EpisodeRecord]:
        """The episodes that were recorded in a phase."""
        if not self._episodes.exists():
            return []
        return [record for record in read(self._episodes) if record.labels["phase"] == phase]

    def rewind(self, step: int | None) -> None:
        """Remove what was written after the checkpoint of `step`; with None everything, since the run begins anew."""
        with self._writing():
            metrics: list[dict[str, Any]] = []
            episodes: list[bytes] = []
            if step is not None:
                metrics = [line for line in _lines(self.path / "metrics.jsonl") if _is_before(line, step)]
                if self._episodes.exists():
                    # One record per line; what follows a line that was cut off is nothing.
                    with self._episodes.open("rb") as lines:
                        pairs = zip(read(self._episodes), lines, strict=False)
                        episodes = [line for record, line in pairs if _is_before(record.labels, step)]
            _write(self.path / "metrics.jsonl", "".join(json.dumps(line) + "\n" for line in metrics).encode())
            _write(self._episodes, b"".join(episodes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._recorder is not None:
            self._recorder.close()
        for board in self._boards.values():
            # The same numbers are in metrics.jsonl; a disk that is full has been reported where it was written.
            with suppress(OSError):
                board.close()


def new_run_path(config: TrainConfig) -> Path:
    """A folder under `runs/` that does not exist yet, named after the run."""
    name = f"{config.id}-{config.algorithm}-seed{config.seed}".replace(":", "-").replace("/", "-")
    number = 1
    while (path := Path("runs") / f"{name}-{number}").exists():
        number += 1
    return path


def _is_before(line: Mapping[str, Any], step: int) -> bool:
    return line["phase"] == "warmup" or (line["phase"] == "train" and line["step"] <= step)


def _refuse_other(path: Path, old: Mapping[str, Any], config: TrainConfig) -> None:
    new = config.model_dump(mode="json", exclude_none=True)
    if old == new:
        return
    before, now = _flat(old), _flat(new)
    names = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    raise ConfigError(
        f"{path} holds a run with other settings (they differ in {', '.join(names)}); "
        "choose another --out, or repeat that run's settings to go on with it"
    )


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))  # pyright: ignore[reportUnknownArgumentType]
        else:
            flat[prefix + key] = repr(value)
    return flat


def _lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a JSONL file; a last line that was cut off is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines(keepends=True) if line.endswith("\n")]


def _append(path: Path, record: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def _write_json(path: Path, values: Mapping[str, Any]) -> None:
    _write(path, json.dumps(values, indent=2).encode() + b"\n")


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content)
    _sync(partial)
    partial.replace(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
