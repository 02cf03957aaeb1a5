"""RuleTaker: does a statement follow from facts and rules?"""

from typing import Any

from gem.core import Step
from gem.data import Data
from gem.errors import ConfigError
from gem_envs_qa.question import Question, Row
from gem_envs_qa.reading import FORMS, Form, read_answer
from gem_envs_qa.truth import Truth, read_truth, truth_of_label


class RuleTaker(Question):
    r"""Say whether a statement follows from facts and rules: True or False. One turn, or as many as `max_attempts`.

    The question is followed by how to answer: True or False in `\boxed{}`, or between `<answer>` and `</answer>`. What
    is asked for is what is graded, whatever words and letters the data set has for its answers. In a reply without
    that, the other form is read; the last answer that is not empty counts. Yes and No are read as True and False; a
    reply with another answer, or without one, earns `format_error_reward`, by default 0 as in gem-llm. The reward is 1
    for the right answer and 0 for the other.

    Source of the data sets: P. Clark, O. Tafjord and K. Richardson, "Transformers as Soft Reasoners over Language",
    arXiv 2002.05867. They take what does not follow for false.

    Args:
        data: where the rows come from: see `gem.data.DataSource`. The column `question` has the facts, the rules and
            the statement; `answer` says whether it is true, as a truth value or as a word.
        form: "box" or "tags": which form of answer is asked for.
        instruction: see `gem.dataset_env.DatasetEnv`.
        max_attempts: see `gem.dataset_env.DatasetEnv`.
        format_error_reward: see `gem.dataset_env.DatasetEnv`.
    """

    def __init__(
        self,
        data: Data | None = None,
        *,
        form: Form = "box",
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(
            data, form=form, instruction=instruction, max_attempts=max_attempts, format_error_reward=format_error_reward
        )
        self.answer_form = f"True or False {FORMS[self.form]}"

    def _how_to_answer(self) -> str:
        return (
            f"You may think first. Then answer with True or False, {FORMS[self.form]}, even if the question asks for "
            "other words; only the last answer counts."
        )

    def _row(self, values: Any) -> Row:
        row = super()._row(values)
        label = row.answers[0]
        value = truth_of_label(read_answer(label, self.form) or label)
        if value is None:
            raise ConfigError(
                f"the data {self.source or 'of these rows'}: an answer is true or false, and {row.question!r:.80} has "
                f"{label!r:.80}"
            )
        return row._replace(answers=(value,))

    def _read(self, reply: str) -> Truth | None:
        answer = read_answer(reply, self.form)
        return None if answer is None else read_truth(answer)

    def _grade(self, answer: str) -> Step:
        success = (answer,) == self.row.answers
        return Step.final("That is right." if success else "That is wrong.", float(success), success=success)
