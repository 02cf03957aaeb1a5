"""The run folder as the other processes of a run see it, beside the first, which writes it."""

from typing import Any

from gem_train.models.loading import LoadedModel, saved_weights
from gem_train.runs.folder import RunFolder


class Spectator(RunFolder):
    """Reads a run folder, and writes nothing."""

    def claim(self, *args: Any, **settings: Any) -> None: ...

    def draw(self, *args: Any, **settings: Any) -> None: ...

    def write_summary(self, *args: Any, **settings: Any) -> None: ...

    def write_metrics(self, *args: Any, **settings: Any) -> None: ...

    def write_episode(self, *args: Any, **settings: Any) -> None: ...

    def save_checkpoint(self, loaded: LoadedModel, *args: Any, **settings: Any) -> None:
        self._world.collect(saved_weights(loaded.model))

    def rank_checkpoint(self, *args: Any, **settings: Any) -> None: ...

    def rewind(self, *args: Any, **settings: Any) -> None: ...
