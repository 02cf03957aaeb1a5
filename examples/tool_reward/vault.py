"""A word that only a tool knows."""

from gem import Step, TurnEnv
from gem.answers import boxed
from gem.tool import ToolCall, tool

WORDS = ("drum", "fish", "lamp", "rose")


class Vault(TurnEnv):
    r"""Say the word in the vault, which the tool `look` shows. `\boxed{word}` ends the episode, with reward 0.

    Whether it was the word is `success`; rewards are left to whoever trains on it.

    Args:
        noise: let the tool show a word drawn at random instead.
    """

    def __init__(self, noise: bool = False) -> None:
        super().__init__(max_turns=1)
        self.noise = noise

    @tool
    def look(self) -> str:
        """Show the word."""
        return self.rng.choice(WORDS) if self.noise else self.word

    def _reset(self, options):
        self.word = self.rng.choice(WORDS)
        return "Which word is in the vault?"

    def _step(self, action):
        answer = boxed(action)
        success = answer is not None and answer.strip() == self.word
        return Step.final("That is it." if success else "No.", 0.0, success=success)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice(WORDS)}}}"

    def expert_action(self):
        return f"\\boxed{{{self.word}}}"

    def expert_call(self, results):
        """To look, once."""
        return None if results else ToolCall("look", {})
