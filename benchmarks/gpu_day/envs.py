"""What models of random weights play in `gpu.py`: their replies say nothing, so rewards are drawn by the seed."""

import math
import random
import time

import gem
from gem import seeding
from gem.core import Wrapper


class Talk(gem.TurnEnv):
    """Some turns, each of which begins with another text of so many ids; half of the episodes succeed.

    Args:
        ids: of an observation, for a tokenizer that has one for each character.
        max_turns: replies of an episode.
    """

    def __init__(self, *, ids, max_turns):
        super().__init__(max_turns=max_turns)
        self.ids = ids

    def _reset(self, options):
        return self._text()

    def _step(self, action):
        if not self.last_turn:
            return gem.Step.ongoing(self._text())
        success = self.rng.random() < 0.5
        return gem.Step.final("", float(success), success=success)

    def sample_action(self):
        return "Yes."

    def _text(self):
        return "".join(self.rng.choices("abcdefgh ", k=self.ids))


class Paid(Wrapper):
    """Steps that wait for a lognormal time, of so many seconds on average; an episode earns 1 or 0 by its seed."""

    def __init__(self, env, *, seconds):
        super().__init__(env)
        self.mean = seconds
        self.drawn = random.Random(0)

    def reset(self, *, seed=None, options=None):
        self.drawn = random.Random(seeding.derive(seed or 0, "paid"))
        return super().reset(seed=seed, options=options)

    def step(self, action):
        time.sleep(self.drawn.lognormvariate(math.log(self.mean) - 0.5, 1.0))
        step = super().step(action)
        done = step.terminated or step.truncated
        return step._replace(reward=float(self.drawn.random() < 0.5) if done else 0.0)
