"""Checkpoints of a run, which are written in the background while it goes on."""

import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gem.work.threads import Outcome, Threads
from gem_train.distributed.shards import planned, without_tensors
from gem_train.distributed.world import World
from gem_train.models.loading import LoadedModel, saved_weights
from gem_train.runs.checkpoints import BEST, best_checkpoint, checkpoints
from gem_train.runs.files import sync, write_json

Score = tuple[float, float]
"""Mean success and mean return."""

_POLL = 0.02
"""Seconds between two looks whether the other processes have written their parts."""
_GRACE = 30.0
"""Seconds that they are waited for by a run that ends by an error, which they may have, too."""


class Checkpoints:
    """The checkpoints in a run folder: each process of the run writes its part.

    A checkpoint appears under its name when all of it is on the disk; until then the one before it is the newest.

    Args:
        run: the run folder.
        world: the processes of the run.
    """

    def __init__(self, run: Path, world: World) -> None:
        self._run, self._world = run, world
        self._folder = run / "checkpoint"
        self._threads = Threads("checkpoint", 1)
        self._writing: Future[Outcome[None]] | None = None
        self._deadline: float | None = None
        """Until when the other processes are waited for; None for always."""

    def save(self, loaded: LoadedModel, state: Mapping[str, Any], step: int, score: Score | None, keep: int) -> None:
        """Begin to write a checkpoint, of copies in the memory of the CPU; every process of the run must call it.

        Args:
            loaded: the model and its tokenizer.
            state: of the learner and the run.
            step: how many steps have been made.
            score: see `rank`, which follows when the checkpoint is complete.
            keep: see `rank`.
        """
        self.settle()
        partial, complete = self._folder / f".step-{step}", self._folder / f"step-{step}"

        def is_new() -> bool:
            shutil.rmtree(partial, ignore_errors=True)
            return not complete.exists()

        if not self._world.first(is_new):
            self.rank(step, score, keep)
            return
        weights = self._world.collect(saved_weights(loaded.model))
        plain, tensors = without_tensors(state)
        copies = {name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()}
        part = planned(copies, partial / "tensors", self._world)

        def write() -> None:
            if self._world.rank:
                part()
                _mark(partial, self._world.rank).touch()
            else:
                self._write(part, loaded, weights, plain, partial, complete)
                self.rank(step, score, keep)

        self._writing = self._threads.submit(write)

    def _write(
        self,
        part: Callable[[], None],
        loaded: LoadedModel,
        weights: dict[str, Tensor],
        plain: Any,
        partial: Path,
        complete: Path,
    ) -> None:
        try:
            part()
            loaded.model.save_pretrained(partial / "model", state_dict=weights)
            loaded.tokenizer.save_pretrained(str(partial / "model"))
            torch.save(plain, partial / "state.pt")
            for rank in range(1, self._world.size):
                self._await(_mark(partial, rank))
            for file in partial.rglob("*"):
                sync(file)
            partial.rename(complete)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        sync(self._folder)

    def _await(self, mark: Path) -> None:
        while not mark.exists():
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise TimeoutError("another process of the run has not written its part of the checkpoint")
            time.sleep(_POLL)
        mark.unlink()

    def settle(self) -> None:
        """Wait until the checkpoint that is being written is complete; raises what kept it from being written."""
        if self._writing is not None:
            outcome = self._writing.result()
            self._writing = None
            outcome.get()

    def close(self, *, failed: bool) -> None:
        """The same at the end of the run; of one that failed, nothing is raised besides."""
        if failed:
            self._deadline = time.monotonic() + _GRACE
        with suppress(*([Exception] if failed else [])):
            self.settle()
        self._threads.close()

    def rank(self, step: int, score: Score | None, keep: int) -> None:
        """Say how good the checkpoint of `step` is, and remove the older ones; only the first process does.

        Args:
            step: of a checkpoint that was saved.
            score: its mean success and mean return; the highest is the best, and of equal ones the last. None: unknown.
            keep: how many of the newest checkpoints are kept; the best is kept besides.
        """
        if self._world.rank:
            return
        best = best_checkpoint(self._run)
        if score is not None and (best is None or score >= best[1:]):
            write_json(self._folder / BEST, {"step": step, "success": score[0], "return": score[1]})
            best = best_checkpoint(self._run)
            self._link_best(f"step-{step}")
        for old in checkpoints(self._run)[:-keep]:
            if best is None or old != best[0]:
                old.rename(old.with_name(f".{old.name}"))  # a part of one would look like a whole one
        for old in self._folder.glob(".step-*"):
            shutil.rmtree(old)

    def _link_best(self, checkpoint: str) -> None:
        """Let `checkpoint/best` be another name of a checkpoint, where the file system has links."""
        new = self._folder / ".best"
        with suppress(OSError):
            new.unlink(missing_ok=True)
            new.symlink_to(checkpoint)
            new.replace(new.with_name("best"))


def _mark(partial: Path, rank: int) -> Path:
    """The file that says that the process `rank` has written its part."""
    return partial / f"rank-{rank}"
