"""Environments for the tests of play. Vectors import this module by its name."""

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

from gem import Step, TurnEnv, seeding
from gem.dataset_env import DatasetEnv


class Walk(TurnEnv):
    """Ends after 1 to `longest` turns, by its seed; every `fails`-th seed raises in its last turn."""

    def __init__(self, longest: int = 4, fails: int = 0, max_turns: int | None = None) -> None:
        super().__init__(max_turns=max_turns)
        self.longest, self.fails = longest, fails

    def _reset(self, options: object) -> str:
        self.length = self.rng.randint(1, self.longest)
        return "go"

    def _step(self, action: str) -> Step:
        if self.turn < self.length:
            return Step.ongoing("on", 1.0)
        if self.fails and seeding.derive(self._seed or 0, "fails") % self.fails == 0:
            raise OSError("the server is down")
        return Step.final("end", 1.0, success=self.length > 1)

    def sample_action(self) -> str:
        return "go"


class Long(Walk):
    """Takes ten times as many turns."""

    def _reset(self, options: object) -> str:
        super()._reset(options)
        self.length *= 10
        return "go"


class Lottery(TurnEnv):
    """One turn; what was said decides whether it wins, or raises."""

    def __init__(self, *, raises: bool = False) -> None:
        super().__init__()
        self.raises = raises

    def _reset(self, options: object) -> str:
        return "go"

    def _step(self, action: str) -> Step:
        won = drawn_by(action)
        if won and self.raises:
            raise OSError("the server is down")
        return Step.final("end", float(won), success=won)

    def sample_action(self) -> str:
        return "go"


class Sooner(TurnEnv):
    """Two turns, of which one is rewarded; what was said first decides which."""

    def _reset(self, options: object) -> str:
        return "go"

    def _step(self, action: str) -> Step:
        if self.turn == 1:
            self.first = drawn_by(action)
            return Step.ongoing("on", float(self.first))
        return Step.final("end", float(not self.first), success=True)

    def sample_action(self) -> str:
        return "go"


def drawn_by(action: str) -> bool:
    """True for about a fifth of all actions."""
    return seeding.derive(0, action) % 5 == 0


CITIES = (
    ("France", "Paris"),
    ("Japan", "Tokyo"),
    ("Kenya", "Nairobi"),
    ("Peru", "Lima"),
    ("Chile", "Santiago"),
    ("Egypt", "Cairo"),
    ("Ghana", "Accra"),
    ("Italy", "Rome"),
    ("Norway", "Oslo"),
    ("Spain", "Madrid"),
)


class Capital(DatasetEnv[tuple[str, str], str]):
    """A data set of ten rows, or of the first of them."""

    def __init__(self, first: int = 10) -> None:
        super().__init__()
        self.table = CITIES[:first]

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        return self.table

    def _question(self, row: tuple[str, str]) -> str:
        return f"What is the capital of {row[0]}?"

    def _read(self, reply: str) -> str | None:
        return reply or None

    def _grade(self, answer: str) -> Step:
        success = answer == self.row[1]
        return Step.final("Right." if success else "Wrong.", float(success), success=success)

    def sample_action(self) -> str:
        return self.action_rng.choice(CITIES)[1]


class Waiting(Walk):
    """Takes a time that no seed decides, as tools do, and shows the turn."""

    def _step(self, action: str) -> Step:
        time.sleep(random.uniform(0, 0.004))
        step = super()._step(action)
        return step if step.done else step._replace(observation=f"turn {self.turn} after {action[:20]!r}")


class Gated(Walk):
    """Does not answer while a file does not exist."""

    def __init__(self, gate: str, longest: int = 4) -> None:
        super().__init__(longest)
        self.gate = Path(gate)

    def _step(self, action: str) -> Step:
        while not self.gate.exists():
            time.sleep(0.005)
        return super()._step(action)


class Mortal(Walk):
    """Kills its process in a step, once for each file that is put into a folder."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = Path(folder)

    def _step(self, action: str) -> Step:
        for file in self.folder.iterdir():
            with suppress(FileNotFoundError):  # another process has died of it
                file.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        return super()._step(action)
