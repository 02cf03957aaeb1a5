"""An env that waits, for `serve.py`."""

import time

from gem import Step, TurnEnv


class Waits(TurnEnv):
    """Takes 50 ms for an action."""

    def __init__(self):
        super().__init__(max_turns=None)

    def _reset(self, options):
        return "go"

    def _step(self, action):
        time.sleep(0.05)
        return Step.ongoing("go")

    def sample_action(self):
        return "go"
