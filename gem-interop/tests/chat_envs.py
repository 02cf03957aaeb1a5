"""Envs for the frameworks that keep chats: verifiers and NeMo Gym."""

import threading
from typing import ClassVar

from gem import Step, TurnEnv
from gem.tool import tool


class Sums(TurnEnv):
    """Asks for a sum, and has a tool that adds. Its reset fails if it is broken."""

    open: ClassVar[set[int]] = set()
    """Those that are not closed."""

    def __init__(self, broken: bool = False):
        super().__init__()
        self._broken = broken
        Sums.open.add(id(self))

    @tool
    def add(self, a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    def _reset(self, options):
        if self._broken:
            raise OSError("no reset today")
        self.numbers = self.rng.randint(1, 99), self.rng.randint(1, 99)
        return "What is {} + {}?".format(*self.numbers)

    def _step(self, action):
        right = action == str(sum(self.numbers))
        return Step.final("Right." if right else "Wrong.", float(right), success=right)

    def sample_action(self):
        return "0"

    def close(self):
        Sums.open.discard(id(self))


class Together(TurnEnv):
    """Answers when four of them are in a step at once; fails if they do not come."""

    four: ClassVar[threading.Barrier] = threading.Barrier(4)

    def _reset(self, options):
        return "Say something."

    def _step(self, action):
        self.four.wait(60)
        return Step.final("Thank you.", 1.0, success=True)

    def sample_action(self):
        return "yes"
