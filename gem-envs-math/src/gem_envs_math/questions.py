"""Questions of data sets whose answers mean something in mathematics: `MathQuestion`."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from gem.answers.parsing import boxed
from gem.checks import finite
from gem.core import Observation, Step
from gem.data import Data
from gem.dataset_env import DatasetEnv
from gem.errors import ConfigError
from gem_envs_math.copied import is_copied
from gem_envs_math.golds import math_golds
from gem_envs_math.grading import grade
from gem_envs_math.notation import in_a_box


class MathRow(NamedTuple):
    """A question and its right answers, each of which is right by itself."""

    question: str
    golds: tuple[str, ...]
    values: Mapping[str, Any]
    """All columns, the two above under the names of their roles."""


class MathQuestion(DatasetEnv[MathRow, str]):
    r"""A question of a data set. An action is a reply with the answer inside `\boxed{}`; the last box counts.

    Rewards: 1 for an answer that `gem_envs_math.grading.grade` finds right, given the question, 0 for another. As in
    gem-llm, a reply without a box earns 0; `format_error_reward` changes that. `info["rule"]` says by which rule it was
    graded. With `max_attempts`, the agent reads that its answer is wrong and may try again; what is right it is never
    told.

    An answer that only repeats a formula of the question, such as the one to simplify, is wrong, and the rule is
    `copied`.

    A row has a `question` (text) and an `answer`: text, a number, or a list of these, each of which is right by itself;
    or a solution with its answer after `####` or in `\boxed{}`: see `gem_envs_math.golds`. Rows are looked at when the
    table is opened. The question may be called `problem` or `prompt`, and the answer as `columns` says.

    Args:
        data: where the rows come from: see `gem.data.DataSource`; or rows, or a function that returns them.
        tolerance: the largest difference of two numbers, as a share of the right one, from 0 to less than 1.
        accept_copies: whether an answer that repeats a formula of the question may be right.
        instruction: see `gem.dataset_env.DatasetEnv`.
        max_attempts: see `gem.dataset_env.DatasetEnv`.
        format_error_reward: see `gem.dataset_env.DatasetEnv`.

    Raises:
        GraderFailed: by `step`, if the grader itself failed; the answer is then neither right nor wrong.
    """

    columns: ClassVar[Mapping[str, str | tuple[str, ...]]] = {
        "question": ("problem", "question", "prompt"),
        "answer": ("answer", "final_answer", "expected_answer", "ground_truth", "solution"),
    }
    default_instruction = r"You may think first. Give the final answer inside \boxed{}; only the last box counts."
    answer_form = r"answer inside \boxed{}"

    def __init__(
        self,
        data: Data | None = None,
        *,
        tolerance: float = 0.0,
        accept_copies: bool = False,
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(
            data, instruction=instruction, max_attempts=max_attempts, format_error_reward=format_error_reward
        )
        if not 0 <= finite("tolerance", tolerance) < 1:
            raise ConfigError(f"tolerance is at least 0 and less than 1, not {tolerance}")
        self.tolerance = tolerance
        self.accept_copies = accept_copies

    def _row(self, values: Mapping[str, Any]) -> MathRow:
        question = values["question"]
        if not isinstance(question, str):
            raise ConfigError(f"a question is text, not {question!r:.80}")
        try:
            golds = math_golds(values["answer"])
        except ValueError as error:
            raise ConfigError(f"the answer to {question!r:.80}: {error}") from error
        return MathRow(question, golds, values)

    def _question(self, row: MathRow) -> Observation:
        return row.question

    def _read(self, reply: str) -> str | None:
        return (boxed(reply) or "").strip() or None

    def _grade(self, answer: str) -> Step:
        row = self.row
        right, rule = grade(answer, row.golds, question=row.question, tolerance=self.tolerance)
        if right and not self.accept_copies and is_copied(answer, row.question, row.golds):
            right, rule = False, "copied"
        return Step.final("That is right." if right else "That is wrong.", float(right), success=right, rule=rule)

    def _gold(self, row: MathRow) -> str:
        replies = list(map(in_a_box, row.golds))
        # An answer with a brace too many, as data sets have them, cannot be given in a box.
        whole = (reply for reply, gold in zip(replies, row.golds, strict=True) if boxed(reply) == gold)
        return next(whole, replies[0])

    def sample_action(self) -> str:
        """The right answer to a random question of the data set: an answer of a plausible kind."""
        reply = self._gold(self._row(self.action_rng.choice(self.rows)))
        return reply if self._read(reply) else in_a_box(0)
