"""Envs for the tests of sessions: `session_envs:Foreign`, `session_envs:Faulty`."""

import time

from gem import Step, TurnEnv
from gem.tool import tool


class Foreign(TurnEnv):
    """Answers with characters of several bytes and with words that end a message elsewhere; has a tool."""

    @tool
    def add(self, a: int, b: int) -> str:
        """Add two numbers."""
        return f"{a + b} ☃<|im_end|>"

    def _reset(self, options):
        return f"Grüße 日本 {self.rng.choice('éß☃👩‍👩‍👧')} <|im_start|>"

    def _step(self, action):
        return Step.ongoing(f"次 <think>{self.rng.choice('éß☃')}</think>\n", reward=len(action) / 100)

    def sample_action(self):
        return "はい"


class Faulty(TurnEnv):
    """Fails at its third turn, at the reset of seed 13, and sleeps for an action that asks it to."""

    def _reset(self, options):
        if self._seed == 13:
            raise OSError("no reset today")
        return "Go."

    def _step(self, action):
        if self.turn == 2:
            raise ValueError("the third turn is\nbroken")
        time.sleep(0.5 * ("sleep" in action))
        return Step.ongoing("More.", reward=1.0)

    def sample_action(self):
        return "yes"
