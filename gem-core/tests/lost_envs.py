"""An env whose server is a file: where that does not exist, it cannot be reached. Workers import this module."""

from pathlib import Path

from gem import Step, TurnEnv
from gem.errors import Unreachable


class Far(TurnEnv):
    """Three turns, each of which needs the server.

    Args:
        server: the file.
        fails: the seeds whose episodes fail for another reason.
    """

    def __init__(self, server: str = "server", fails: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.server, self.fails = Path(server), fails

    def _reset(self, options):
        self._ask()
        return "go"

    def _step(self, action):
        self._ask()
        return Step.final("", 1.0, success=True) if self.turn == 3 else Step.ongoing("")

    def _ask(self):
        if not self.server.exists():
            raise Unreachable(f"{self.server.name} cannot be reached")
        if self._seed in self.fails:
            raise OSError("broken")

    def sample_action(self):
        return "x"


class Near(Far):
    """The same without a server."""

    def _ask(self):
        pass
