"""An env whose user is a chat model."""

import gem
from gem.core import Step
from gem.turn_env import TurnEnv


class Shop(TurnEnv):
    """A shop whose customer is the model of the role `user`: right is to say back what it wants."""

    def __init__(self, max_turns: int = 3) -> None:
        super().__init__(max_turns=max_turns)
        self.user = gem.chat_model("user")

    def _reset(self, options):
        self.wish = self.user.ask_sync(f"wish {self.rng.randrange(1000)}").text
        return self.wish

    def _step(self, action):
        said = self.user.ask_sync([{"role": "user", "content": f"{self.wish}: {action}"}]).text
        return Step.final(said.encode(errors="replace").decode(), 1.0, success=action == self.wish)

    def sample_action(self):
        return self.wish


class Clerk(TurnEnv):
    """Two turns that begin with a system message."""

    system = "You sell shoes."

    def _reset(self, options):
        return "A customer comes in."

    def _step(self, action):
        return Step.ongoing("And?") if self.turn == 1 else Step.final("Bye.", 1.0, success=True)

    def sample_action(self):
        return "more"


def wanting(messages):
    """The customer of the shop, as a function."""
    return messages[-1]["content"].upper()
