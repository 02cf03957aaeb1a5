"""Opposites: a word is given, and its opposite is asked for."""

from collections.abc import Mapping
from typing import Any, ClassVar

from gem import Step
from gem.dataset_env import DatasetEnv
from gem.parsing import boxed

Row = Mapping[str, Any]


class Opposites(DatasetEnv[Row, str]):
    r"""Name the opposite of a word. One turn; an action is `\boxed{small}`.

    Rewards: 1 for the right word in any case, 0 for another; a reply without a box costs 0.1.
    """

    answer_form = "word inside \\boxed{}"
    columns: ClassVar = {"question": "word", "answer": "opposite"}
    default_instruction = "Answer with one word inside \\boxed{}, for example \\boxed{small}; only the last box counts."

    def _question(self, row: Row) -> str:
        return f"What is the opposite of {row['question']!r}?"

    def _read(self, reply: str) -> str | None:
        return boxed(reply)

    def _grade(self, answer: str) -> Step:
        success = answer.strip().lower() == self.row["answer"]
        return Step.final("That is right." if success else "That is wrong.", float(success), success=success)

    def _gold(self, row: Row) -> str:
        return "\\boxed{" + row["answer"] + "}"

    def sample_action(self) -> str:
        """The answer to a question, which need not be the one that was asked."""
        return self._gold(self._row(self.action_rng.choice(self.rows)))
