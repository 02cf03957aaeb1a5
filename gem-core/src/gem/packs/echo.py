"""Echo, the smallest environment."""

from collections.abc import Mapping
from typing import Any

from gem.answers.parsing import boxed
from gem.core import Step
from gem.turn_env import TurnEnv

WORDS = ("apple", "bread", "cloud", "drum", "eagle", "flute", "grape", "house")
"""The words that are drawn."""


class Echo(TurnEnv):
    r"""Say a word back. One turn: `\boxed{word}` earns 1 if the word is right, else 0; no box costs 0.1."""

    def __init__(self) -> None:
        super().__init__(max_turns=1)
        self.word = WORDS[0]
        """The word of this episode."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.word = self.rng.choice(WORDS)
        return f"Say the word {self.word} back, inside \\boxed{{}}."

    def _step(self, action: str) -> Step:
        answer = boxed(action)
        if answer is None:
            return self.malformed("There is no \\boxed{} in your reply.")
        success = answer.strip() == self.word
        return Step.final("That is the word." if success else "That is not the word.", float(success), success=success)

    def sample_action(self) -> str:
        return f"\\boxed{{{self.action_rng.choice(WORDS)}}}"

    def expert_action(self) -> str:
        return f"\\boxed{{{self.word}}}"
