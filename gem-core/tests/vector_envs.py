"""Environments for the tests of the vector engine. Workers import this module by its name."""

import os
import subprocess
import sys
import time
from pathlib import Path

from gem.core import Step, Wrapper
from gem.errors import ConfigError
from gem.turn_env import TurnEnv


class Walk(TurnEnv):
    """Draws a number a turn, and wins at the end of the way. An action can name what is to go wrong.

    The observation tells everything that ever happened in the episode, so that two walks that look the same are.

    Args:
        length: turns in an episode.
        broken: where the env is out of order: "make", "reset", "exit in make" or nowhere.
    """

    reset_options = ("from", "folder")

    def __init__(self, length: int = 4, broken: str = "", max_turns: int | None = None) -> None:
        super().__init__(max_turns=max_turns)
        if length < 1:
            raise ConfigError(f"length is at least 1, not {length}")
        if broken == "make":
            raise OSError("no such device")
        if broken == "exit in make":
            os._exit(5)
        self.length, self.broken = length, broken
        self.walked = ""

    def _reset(self, options):
        if self.broken == "reset":
            raise OSError("the road is closed")
        if "WALK_PIDS" in os.environ:
            with Path(os.environ["WALK_PIDS"]).open("a") as file:
                file.write(f"{os.getpid()}\n")
        self.walked = f"from {options.get('from', 'home')}"
        return self._look()

    def _step(self, action):
        self.walked += f", {action}"
        reward = self.rng.random()
        word, _, rest = action.partition(" ")
        info = {}
        match word:
            case "raise":
                raise ZeroDivisionError("division by zero")
            case "exit":
                sys.exit("enough")
            case "interrupt":
                raise KeyboardInterrupt
            case "die":
                os._exit(3)
            case "fork":
                if os.fork() == 0:
                    os.setsid()
                    time.sleep(5)
                    os._exit(0)
                self._step(rest)
            case "hang":
                while True:
                    time.sleep(0.01)
            case "nap":
                time.sleep(float(rest))
            case "await":
                while not Path(rest).exists():
                    time.sleep(0.005)
            case "hand":
                info["thing"] = (lambda: None) if rest == "out a lambda" else Bomb()
            case "both":
                return Step("", 0.0, True, True, {"success": False})
            case "mute":
                return Step("", 0.0, True, False, {})
            case "nothing":
                return None  # pyright: ignore[reportReturnType]
        if self.turn == self.length:
            return Step.final(self._look(), reward, success=True)
        return Step.ongoing(self._look(), reward, pid=os.getpid(), **info)

    def _look(self):
        return f"{self.rng.random()} {self.walked}"

    def sample_action(self):
        return f"go {self.action_rng.randint(0, 9)}"

    def expert_action(self):
        if "sulk" in self.walked:
            raise LookupError("no advice today")
        return "go"


class Shadowing(TurnEnv):
    """Takes arguments that are called like those of `make_vec`. One turn; the return is `seed`, if `backend` is "x"."""

    def __init__(self, seed: int = 0, backend: str = "") -> None:
        super().__init__(max_turns=1)
        self.seed, self.backend = seed, backend

    def _reset(self, options):
        return "Say anything."

    def _step(self, action):
        return Step.final("", float(self.seed) if self.backend == "x" else -1.0, success=True)

    def sample_action(self):
        return "anything"


class Bomb:
    """Pickles, and cannot be unpickled."""

    def __reduce__(self):
        return explode, ()


def explode():
    raise ValueError("boom")


class Ungrateful(Walk):
    """Remembers the hour, which no replay can bring back."""

    def _look(self):
        return f"{time.monotonic_ns()} {super()._look()}"


class Slow(Walk):
    """Is built slowly wherever the folder of the process has a file `slow`; refuses to be closed."""

    def __init__(self, folder: str, **kwargs) -> None:
        super().__init__(**kwargs)
        if Path(folder, "slow").exists():
            time.sleep(1.5)

    def close(self) -> None:
        sys.exit("not now")


class Traced(Wrapper):
    """Writes a file at its end, to show that it was closed."""

    folder = ""

    def reset(self, *, seed=None, options=None):
        self.folder = (options or {}).get("folder", self.folder)
        return super().reset(seed=seed, options=options)

    def close(self):
        if self.folder:
            Path(self.folder, f"{id(self)}").write_text("closed")
            self.folder = ""
        super().close()


class Starter(Walk):
    """Starts a program, and shows its process id."""

    def _reset(self, options):
        super()._reset(options)
        return str(subprocess.Popen(["sleep", "600"]).pid)
