"""Questions whose answer is an integer, given in a box."""

from abc import abstractmethod
from fractions import Fraction

from gem.answers.number import read_number
from gem.answers.parsing import boxed
from gem.core import Step
from gem.dataset_env import QuestionEnv
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_math.notation import in_a_box


class NumberQuestion(QuestionEnv[Fraction]):
    r"""A question whose answer is an integer: write `_reset` (the question), `_result`, `steps` and `sample_action`.

    One turn; an action is `\boxed{-42}`. Rewards: 1 for the right number in any notation `gem.answers` reads, 0 for
    another; grading is exact. As in gem-llm's math environments, a reply without a number in a box earns 0, or -0.1
    with ``use_format_error_reward``. The info of a graded answer has the `steps` of the calculation.

    Args:
        use_format_error_reward: whether a reply without a number costs 0.1.
    """

    answer_form = "integer inside \\boxed{}"

    def __init__(self, use_format_error_reward: bool = False) -> None:
        super().__init__(format_error_reward=FORMAT_ERROR_REWARD if use_format_error_reward else 0.0)

    @abstractmethod
    def _result(self) -> int:
        """The right answer to the question of this episode."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """The operations that lead to the answer, as `gem_envs_math.counted` counts them."""

    def _read(self, reply: str) -> Fraction | None:
        return read_number(boxed(reply) or "")

    def _grade(self, answer: Fraction) -> Step:
        success = answer == self._result()
        return Step.final(
            "That is right." if success else "That is wrong.", float(success), success=success, steps=self.steps
        )

    def expert_action(self) -> str:
        """The right result."""
        return in_a_box(self._result())
