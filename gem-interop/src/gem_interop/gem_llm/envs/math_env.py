"""gem-llm's `MathEnv`, graded by gem-envs-math."""

from typing import Any

from gem.errors import MissingExtra, PackError
from gem.packs.importing import import_object
from gem.parsing import boxed
from gem_interop.gem_llm.envs.rows import RowsEnv, golds


class MathEnv(RowsEnv):
    r"""A question in mathematics, answered in a `\boxed{}`. See `RowsEnv`."""

    def __init__(self, *args: Any, question_key: str = "problem", **kwargs: Any) -> None:
        super().__init__(*args, question_key=question_key, **kwargs)

    def is_right(self, action: str) -> bool:
        answer = boxed(action)
        return answer is not None and self.check_correct(answer, self.answer)

    @staticmethod
    def check_correct(model_answer: str, gt_answer: Any) -> bool:
        """Whether an answer, alone or in its box, is one of the right ones.

        Raises:
            MissingExtra: gem-envs-math is not installed.
            GraderFailed: the grader failed, so the answer is neither right nor wrong.
        """
        try:
            grade = import_object("gem_envs_math.grading:grade")
        except PackError as error:
            raise MissingExtra("grading answers needs gem-envs-math: pip install ./gem-envs-math") from error
        answer = boxed(model_answer)
        return grade(model_answer if answer is None else answer, golds(gt_answer)).right

    def sample_random_action(self) -> str:
        return "\\boxed{42}"
