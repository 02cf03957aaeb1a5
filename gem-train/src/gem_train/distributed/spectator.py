"""The run folder as the other processes of a run see it, beside the first, which writes it."""

from collections.abc import Mapping
from typing import Any

from gem_train.distributed.shards import without_tensors
from gem_train.models.loading import LoadedModel, saved_weights
from gem_train.runs.folder import RunFolder


class Spectator(RunFolder):
    """Reads a run folder, and writes nothing but its part of the tensors in checkpoints."""

    def claim(self, *args: Any, **settings: Any) -> None: ...

    def draw(self, *args: Any, **settings: Any) -> None: ...

    def write_summary(self, *args: Any, **settings: Any) -> None: ...

    def write_metrics(self, *args: Any, **settings: Any) -> None: ...

    def write_episode(self, *args: Any, **settings: Any) -> None: ...

    def save_checkpoint(self, loaded: LoadedModel, state: Mapping[str, Any], step: int) -> None:
        self._world.collect(saved_weights(loaded.model))
        write = self._planned(without_tensors(state)[1], step)
        if write is not None:
            self._world.together(write)

    def rank_checkpoint(self, *args: Any, **settings: Any) -> None: ...

    def rewind(self, *args: Any, **settings: Any) -> None: ...
