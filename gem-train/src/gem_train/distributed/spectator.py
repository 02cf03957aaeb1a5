"""The run folder as the other processes of a run see it, beside the first, which writes it."""

from typing import Any

from gem_train.runs.folder import RunFolder


class Spectator(RunFolder):
    """Reads a run folder, and writes nothing but its part of checkpoints."""

    def claim(self, *args: Any, **settings: Any) -> None: ...

    def draw(self, *args: Any, **settings: Any) -> None: ...

    def write_summary(self, *args: Any, **settings: Any) -> None: ...

    def write_metrics(self, *args: Any, **settings: Any) -> None: ...

    def write_episode(self, *args: Any, **settings: Any) -> None: ...

    def rewind(self, *args: Any, **settings: Any) -> None: ...
