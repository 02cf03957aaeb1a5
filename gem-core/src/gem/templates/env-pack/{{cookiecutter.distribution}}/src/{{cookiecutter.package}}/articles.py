"""Articles: a word is given, and the article that goes before it is asked for."""

from collections.abc import Mapping
from typing import Any, ClassVar

from gem import Step
from gem.answers.parsing import boxed
from gem.dataset_env import DatasetEnv

Row = Mapping[str, Any]


class Articles(DatasetEnv[Row, str]):
    r"""Say whether `a` or `an` goes before a word. One turn; an action is `\boxed{an}`.

    Rewards: 1 for the right article in any case, 0 for another word; a reply without a box costs 0.1.
    """

    answer_form = "article inside \\boxed{}"
    columns: ClassVar = {"question": "word", "answer": "article"}
    default_instruction = "Answer with one word inside \\boxed{}, for example \\boxed{a}; only the last box counts."

    def _question(self, row: Row) -> str:
        return f"Which article goes before the word {row['question']!r}, a or an?"

    def _read(self, reply: str) -> str | None:
        return boxed(reply)

    def _grade(self, answer: str) -> Step:
        success = answer.strip().lower() == self.row["answer"]
        return Step.final("That is right." if success else "That is wrong.", float(success), success=success)

    def _gold(self, row: Row) -> str:
        return "\\boxed{" + row["answer"] + "}"

    def sample_action(self) -> str:
        return "\\boxed{" + self.action_rng.choice(["a", "an"]) + "}"
