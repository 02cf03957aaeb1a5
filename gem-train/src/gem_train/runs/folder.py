"""The run folder: everything that a run leaves behind, in files that other tools can read.

```
config.toml      every setting in force
metrics.jsonl    one JSON object per line: {"phase": "warmup" | "train" | "eval", "step": …}
episodes.jsonl   some episodes of every step, and all of the last evaluation: a recording (see `gem.record`)
tensorboard/     the same metrics
wandb/           the same again, if asked
pool/            weights of the earlier selves that it meets in self-play
checkpoint/      the newest states to resume from, and the best; the `model` folder in each loads with transformers
curve.png        success over steps
summary.json     the result
```

A run can be killed at any moment: lines are appended whole, other files are replaced at once, and a checkpoint counts
only when it is complete.
"""

import shlex
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Self, TypeVar

import tomli_w
import torch
from safetensors import SafetensorError
from torch import Tensor

from gem.episode import Episode
from gem.errors import ConfigError, TrainingStopped, one_line
from gem.files import check_no_links, read_bytes, read_lines
from gem.record import Recorder, read
from gem_train.config.sections import LogConfig
from gem_train.config.sources import MOST_BYTES, flat, read_toml
from gem_train.config.training import may_change
from gem_train.distributed.shards import with_stored
from gem_train.distributed.world import ALONE, World
from gem_train.models.loading import LoadedModel
from gem_train.runs.checkpoints import checkpoints, step_of
from gem_train.runs.files import append_line, check_stored, read_objects, write, write_json, write_lines
from gem_train.runs.memory import enough_memory, is_out_of_memory
from gem_train.runs.metric_logs import LINKS_OF_WANDB, MetricLogs
from gem_train.runs.opponents import Opponents
from gem_train.runs.saving import Checkpoints, Score

T = TypeVar("T")


class RunFolder:
    """The files of one run.

    Args:
        path: the folder; `claim` makes it if it does not exist.
        settings: of the run, as plain data. A folder that already holds a checkpoint or a summary must hold this run's;
            only those of `MAY_CHANGE` may differ, and `steps` only if the run has not made more already.
        world: the processes of the run.
        complete: adds to the settings in a folder those that an earlier version did not have, as they are by default.

    Raises:
        ConfigError: the folder holds a run with other settings, a link, or something that is not a run.
    """

    def __init__(
        self,
        path: Path,
        settings: Mapping[str, Any],
        world: World = ALONE,
        complete: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    ) -> None:
        self.path = path
        self._world = world
        self._settings = settings
        self._checkpoints = Checkpoints(path, world)
        self._opponents = Opponents(path)
        self._logs = MetricLogs(path, LogConfig(**settings["log"]), self.title, settings)
        self._recorder: Recorder | None = None
        self._finished_steps: int | None = None
        """Number of steps that the finished run in the folder was to make; None without one."""
        check_no_links(path, LINKS_OF_WANDB)
        if (path / "config.toml").exists():
            if self.newest_checkpoint() is not None or (path / "summary.json").exists():
                steps = self._check_same_run(complete(read_toml(path / "config.toml")))
                self._finished_steps = steps if (path / "summary.json").exists() else None
        elif path.exists() and (not path.is_dir() or any(file.suffix != ".part" for file in path.iterdir())):
            raise ConfigError(f"{path} exists and is not the folder of a run; choose another --out")

    def _check_same_run(self, old: dict[str, Any]) -> int:
        """Check that `old` settings are the run's; returns the steps they name."""
        steps = self._settings["steps"]
        _refuse_other(self.path, old, self._settings)
        newest = self.newest_checkpoint()
        if newest is not None and steps < step_of(newest):
            raise ConfigError(
                f"the run in {self.path} has made {step_of(newest)} steps already; give more --steps to extend it"
            )
        return old.get("steps", 0)

    def claim(self) -> None:
        """Make the folder this run's. Done when the settings have proved good, so that a typo claims nothing."""
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / "summary.json").unlink(missing_ok=True)
            write(self.path / "config.toml", tomli_w.dumps(self._settings).encode())
        self._logs.open()

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Turns a failed write into one clear line."""
        try:
            yield
        except (OSError, SafetensorError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise
            # When the disk is full, torch raises RuntimeError, and safetensors an error of its own.
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
            newest = self.newest_checkpoint()
            then = f"resumes from step {step_of(newest)}" if newest else "starts from the beginning"
            raise TrainingStopped(
                f"cannot write the run folder {self.path}: {reason}. When that is solved, the same command with "
                f"--out {self.path} {then}"
            ) from error

    @property
    def title(self) -> str:
        """The run in a few words: its environment or recording, its algorithm, and its seed."""
        what = self._settings["id"] or Path(self._settings["data"]["recording"]).name
        return f"{what}, {self._settings.get('algorithm', 'imitation')}, seed {self._settings['seed']}"

    @property
    def curve(self) -> Path:
        """Path of the learning curve."""
        return self.path / "curve.png"

    @property
    def resume_command(self) -> str:
        """The command that resumes the run."""
        command = "train" if "algorithm" in self._settings else "sft"
        words = "--config", str(self.path / "config.toml"), "--out", str(self.path)
        return f"{self._world.command} {command} {shlex.join(words)}"

    def memory(self, doing: str) -> AbstractContextManager[None]:
        """Advice on what to change when memory runs out, around "load the model", "play" and "learn"."""
        return enough_memory(doing, self._settings, self.resume_command)

    def draw(self, plot: Callable[[Path, str], None]) -> None:
        """Draw the learning curve with `plot`, which is given the path to write to and the title."""
        with self._writing():
            partial = self.path / ".curve.partial.png"
            plot(partial, self.title)
            partial.replace(self.curve)

    def summary(self, parse: Callable[[str], T]) -> T | None:
        """The result, which `parse` reads, if the run has finished with the steps that are asked for.

        Raises:
            ConfigError: it is damaged.
        """
        if self._finished_steps != self._settings["steps"]:
            return None
        path = self.path / "summary.json"
        try:
            return parse(read_bytes(path, MOST_BYTES).decode())
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ConfigError(
                f"{path} is damaged, it is not the summary of a run ({one_line(error)}): remove it, and the same "
                "command evaluates the run and writes it again"
            ) from error

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """Write the result; the run has finished."""
        self.settle()
        with self._writing():
            write_json(self.path / "summary.json", summary)

    def state(self, names: Collection[str]) -> dict[str, Any] | None:
        """The state in the newest checkpoint, with these `names`; None without one.

        Raises:
            ConfigError: it cannot be read, or lacks something that a run needs to continue exactly.
        """
        checkpoint = self.newest_checkpoint()
        if checkpoint is None:
            return None
        try:
            check_stored(checkpoint / "state.pt")
            # Tensors, which earlier versions kept in it, are read when they are used.
            plain = torch.load(checkpoint / "state.pt", weights_only=True, mmap=True)
            state: dict[str, Any] = with_stored(plain, checkpoint / "tensors")
        except (OSError, RuntimeError, EOFError, UnpicklingError, SafetensorError) as error:
            raise ConfigError(
                f"cannot read the checkpoint {checkpoint}: {str(error).splitlines()[0]}. Remove that folder, and the "
                "run resumes from the one before it"
            ) from error
        if missing := set(names) - state.keys():
            raise ConfigError(
                f"the checkpoint {checkpoint} lacks {', '.join(sorted(missing))}: another version of gem-train wrote "
                f"it, so it cannot be resumed exactly. Start a new run from its model: --model {checkpoint}"
            )
        return state

    def metrics(self, phase: str) -> list[dict[str, Any]]:
        """The metrics that were written for a phase; every process of the run must ask for them."""
        lines = self._world.first(lambda: list(read_objects(self._metrics)))
        return [line for line in lines if line["phase"] == phase]

    def write_metrics(self, phase: str, step: int, values: Mapping[str, float]) -> None:
        """Append the metrics of one step."""
        with self._writing():
            append_line(self._metrics, {"phase": phase, "step": step, **values})
            self._logs.write(phase, step, values)

    def episodes(self, phase: str) -> list[Episode]:
        """The episodes that were recorded in a phase."""
        if not self._episodes.exists():
            return []
        return [record for record in read(self._episodes) if record.labels["phase"] == phase]

    def write_episode(self, step: int, episode: Episode, *, phase: str) -> None:
        """Append one episode to the recording, labelled with its phase and step."""
        with self._writing():
            if self._recorder is None:
                self._recorder = Recorder(self._episodes, policy=self._settings["model"])
            self._recorder.write(episode, {"phase": phase, "step": step})

    def save_checkpoint(
        self, loaded: LoadedModel, state: Mapping[str, Any], step: int, score: Score | None, keep: int
    ) -> None:
        """Begin to save what the run needs to resume from `step`; see `Checkpoints.save`."""
        with self._writing():
            self._checkpoints.save(loaded, state, step, score, keep)

    def rank_checkpoint(self, step: int, score: Score | None, keep: int) -> None:
        """Say how good the checkpoint of `step` is, and remove the older ones; see `Checkpoints.rank`."""
        self.settle()
        with self._writing():
            self._checkpoints.rank(step, score, keep)

    def keep_opponent(
        self, step: int, weights: Iterable[tuple[str, Tensor]], members: Callable[[int], Collection[int]]
    ) -> None:
        """Keep the weights of `step` as those of an opponent.

        Args:
            step: how many steps have been made.
            weights: by the names of the model's parameters.
            members: those that are met after so many steps. Kept are these for each checkpoint to resume from, too.
        """
        self.settle()
        resumable = (step_of(checkpoint) for checkpoint in checkpoints(self.path))
        with self._writing():
            self._opponents.write(step, weights, {each for at in (step, *resumable) for each in members(at)})

    def opponent(self, step: int) -> Iterable[tuple[str, Tensor]]:
        """The weights that were kept after so many steps; see `Opponents.read`."""
        return self._opponents.read(step)

    def settle(self) -> None:
        """Wait until the checkpoint that is being written is complete."""
        with self._writing():
            self._checkpoints.settle()

    def newest_checkpoint(self) -> Path | None:
        """The folder of the checkpoint to resume from, if there is one."""
        found = checkpoints(self.path)
        return found[-1] if found else None

    def rewind(self, step: int | None) -> None:
        """Remove what was written after the checkpoint of `step`; with None everything, since the run starts again."""
        with self._writing():
            metrics: list[dict[str, Any]] = []
            episodes: list[bytes] = []
            if step is not None:
                metrics = [line for line in read_objects(self._metrics) if _is_before(line, step)]
                if self._episodes.exists():
                    # One record per line, except that `read` leaves out a last line that was cut off.
                    pairs = zip(read(self._episodes), read_lines(self._episodes), strict=False)
                    episodes = [line for record, line in pairs if _is_before(record.labels, step)]
            write_lines(self._metrics, metrics)
            if self._episodes.exists():
                write(self._episodes, b"".join(episodes))

    @property
    def _metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def _episodes(self) -> Path:
        return self.path / "episodes.jsonl"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._writing():
            self._checkpoints.close(failed=kind is not None)
        if self._recorder is not None:
            self._recorder.close()
        self._logs.close()


def new_run_path(name: str) -> Path:
    """A folder under `runs/` that does not exist yet, named after a run."""
    name = name.replace(":", "-").replace("/", "-")
    number = 1
    while (path := Path("runs") / f"{name}-{number}").exists():
        number += 1
    return path


def _is_before(line: Mapping[str, Any], step: int) -> bool:
    return line["phase"] == "warmup" or (line["phase"] != "evaluation" and line["step"] <= step)


def _refuse_other(path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    before, now = flat(old), flat(new)
    names = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key) and not may_change(key))
    if names:
        raise ConfigError(
            f"{path} holds a run with other settings (they differ in {', '.join(names)}); "
            "choose another --out, or repeat that run's settings to resume it. A new run can start from its newest "
            "checkpoint, with --model"
        )
