"""A resource of which there are two, and tools that need it. Workers import this file."""

import os
import signal
from pathlib import Path
from uuid import uuid4

from gem.tool import Resource, Tool, tool


class Desk(Resource[Path]):
    """A file for each open state, and a line in a log: how many are open with the new one."""

    capacity = 2

    def __init__(self, folder: Path, *, renews: bool = True) -> None:
        super().__init__(name=f"desk in {folder}")
        self.folder, self.renews = folder, renews

    def open(self) -> Path:
        state = self.folder / f"open-{os.getpid()}-{uuid4().hex}"
        state.touch()
        with (self.folder / "log").open("a") as log:
            log.write(f"{len(list(self.folder.glob('open-*')))}\n")
        return state

    def renew(self, state: Path) -> bool:
        return self.renews

    def close(self, state: Path) -> None:
        state.unlink()


def desk_tool(folder: str) -> Tool:
    """The tool `write`, at a desk in `folder`."""

    @tool(resource=Desk(Path(folder)))
    def write(state: Path, text: str) -> str:
        """Write at a desk."""
        assert state.exists()
        try:
            (Path(folder) / f"kill {text}").unlink()
        except FileNotFoundError:  # also where the other worker was quicker
            return f"wrote {text}"
        state.unlink()  # as what is outside of the process would go with it
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("killed")

    return write


def opened(folder: Path) -> list[int]:
    """How many were open each time that one was opened."""
    return [int(line) for line in (folder / "log").read_text().split()]
