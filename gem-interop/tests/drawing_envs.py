"""An env of a library that draws from the global generators."""

import threading

import numpy as np

from gem import Step
from gem_interop.envs import base

LET_GO = threading.Event()


class Draws(base.ForeignEnv):
    """Plays as a library would that draws from the global generators; `hang` does not answer."""

    def __init__(self, max_turns=None):
        super().__init__(max_turns=max_turns)
        self.generators = base.GlobalGenerators()
        with self.generators.use(0):
            pass

    def _begin(self, seed, options):
        with self.generators.use(seed):
            return str(np.random.random())  # noqa: NPY002

    def _answer(self, action):
        with self.generators.use():
            if action == "hang":
                LET_GO.wait()
            return Step.ongoing(str(np.random.random()))  # noqa: NPY002

    def sample_action(self):
        return "yes"
