"""An env whose question comes from a chat model."""

import gem
from gem.core import Step
from gem.turn_env import TurnEnv


class Told(TurnEnv):
    """The model of the role `user` asks; right is a reply with its word."""

    def __init__(self, max_turns: int = 2) -> None:
        super().__init__(max_turns=max_turns)
        self.user = gem.chat_model("user")

    def _reset(self, options):
        self.word = self.user.ask_sync(f"number {self.rng.randrange(4)}").text
        return f"Say {self.word}."

    def _step(self, action):
        right = self.word in action
        return Step.final("Thanks.", float(right), success=right)

    def sample_action(self):
        return self.action_rng.choice(["0", "1", "2", "3"])

    def expert_action(self):
        return self.word
