"""What models of random weights play in `gpu.py`: their replies say nothing that a game understands."""

from async_play import SlowEnv

import gem


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


class Understood(SlowEnv):
    """Steps that take a lognormal time, and play a random legal action instead of each reply."""

    def step(self, action):
        return super().step(self.env.sample_action())
