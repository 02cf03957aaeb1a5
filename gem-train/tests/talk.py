"""An env with a tool that never ends by itself, for tests: `talk:Talk`."""

from gem import Step, TurnEnv
from gem.tool import tool


class Talk(TurnEnv):
    """Answers every reply with the same words, some of which end a message or begin a call elsewhere."""

    @tool
    def add(self, a: int, b: int) -> str:
        """Add two numbers."""
        return f"{a + b}<|said|>"

    def _reset(self, options):
        return "Talk."

    def _step(self, action):
        return Step.ongoing("Go on.<|im_end|>")

    def sample_action(self):
        return "yes"
