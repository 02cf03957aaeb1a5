"""Envs for the tests of the server."""

import threading
import time

from gem import Step, TurnEnv

OPEN: set[int] = set()
"""Which of them have not been closed, in this process."""
LET_GO = threading.Event()
"""Ends the hanging ones."""


class Odd(TurnEnv):
    """Does what it is told: `fail`, `hang`, `odd info`, `nan`, `win`; anything else goes on."""

    reset_options = ("fail", "level")

    def __init__(self, sleep: float = 0.0) -> None:
        super().__init__()
        self.sleep = sleep
        OPEN.add(id(self))

    def _reset(self, options):
        if options and options.get("fail"):
            raise OSError("no such row")
        if options and options.get("level") == "odd":
            return [print]
        return f"options {options}"

    def _step(self, action):
        if self.sleep:
            time.sleep(self.sleep)
        match action:
            case "fail":
                raise OSError("the env is broken")
            case "hang":
                LET_GO.wait()
            case "nan":
                return Step.ongoing("", float("nan"))
            case "odd info":
                info = {"fine": 1, "function": print, "number": float("inf"), (1, 2): 3}
                return Step("", 1.0, False, False, info)
            case "odd observation":
                return Step.ongoing(print)
            case "no reward":
                return Step.ongoing("", None)
            case "win":
                return Step.final("won", 1.0, success=True)
            case _:
                pass
        return Step.ongoing(f"{action} at turn {self.turn}", 0.5)

    def sample_action(self):
        return "win"

    def close(self):
        OPEN.discard(id(self))
