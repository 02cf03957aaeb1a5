"""Arithmetic: work out an integer expression."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gem.checks import check_int
from gem.core import Step
from gem.dataset_env import QuestionEnv
from gem.errors import ConfigError
from gem.number import read_number
from gem.parsing import boxed
from gem.turn_env import FORMAT_ERROR_REWARD
from gem_envs_math import expressions


class Arithmetic(QuestionEnv[Fraction]):
    r"""Work out an expression of integers. One turn; an action is `\boxed{-42}`.

    The question holds the expression and says how to answer. The env's generator draws the expression. Numbers are
    positive, results may be negative.

    Rewards: 1 for the right number in any notation that `gem.number` reads, 0 for another; grading is exact. As in
    gem-llm's math environments, a reply without a number in a box earns 0, or -0.1 with ``use_format_error_reward``.

    Args:
        operands: how many numbers an expression has, from 2 to 20.
        digits: how many digits a number has at most, from 1 to 9. Numbers are uniform from 1 to 10**digits - 1.
        operators: which of the signs `+-*` occur.
        use_format_error_reward: whether a reply without a number costs 0.1.
    """

    answer_form = "integer inside \\boxed{}"

    def __init__(
        self,
        operands: int = 3,
        digits: int = 2,
        operators: str = "+-*",
        use_format_error_reward: bool = False,
    ) -> None:
        super().__init__(format_error_reward=FORMAT_ERROR_REWARD if use_format_error_reward else 0.0)
        self.operands = check_int("operands", operands, 2, 20)
        self.max_number = 10 ** check_int("digits", digits, 1, 9) - 1
        if not operators or len(set(operators)) < len(operators) or not set(operators) <= set(expressions.OPERATORS):
            raise ConfigError(f"operators holds one or more of '+', '-' and '*', each once, not {operators!r}")
        self.operators = operators
        self.expression: expressions.Expression = 0

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.expression = expressions.draw(self.rng, self.operands, self.max_number, self.operators)
        return (
            f"What is {expressions.text(self.expression)}?\n"
            f"You may think first. Give the result as an {self.answer_form}, for example \\boxed{{-7}}; "
            "only the last box counts."
        )

    def _read(self, reply: str) -> Fraction | None:
        return read_number(boxed(reply) or "")

    def _grade(self, answer: Fraction) -> Step:
        right = expressions.value(self.expression)
        if answer == right:
            return Step.final("That is right.", 1.0, success=True)
        return Step.final(f"That is wrong: the result is {right}.", 0.0, success=False)

    def sample_action(self) -> str:
        """The result of another expression of the same kind: an answer of plausible size."""
        other = expressions.draw(self.action_rng, self.operands, self.max_number, self.operators)
        return f"\\boxed{{{expressions.value(other)}}}"

    def expert_action(self) -> str:
        """The right result."""
        return f"\\boxed{{{expressions.value(self.expression)}}}"
