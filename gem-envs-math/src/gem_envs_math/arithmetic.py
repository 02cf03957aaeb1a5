"""Arithmetic: work out an integer expression."""

from collections.abc import Mapping
from typing import Any

from gem.checks import check_int
from gem.errors import ConfigError
from gem_envs_math import expressions
from gem_envs_math.notation import in_a_box
from gem_envs_math.number_question import NumberQuestion


class Arithmetic(NumberQuestion):
    r"""Work out an expression of integers. One turn; an action is `\boxed{-42}`.

    The question holds the expression and says how to answer. The env's generator draws the expression. Numbers are
    positive, results may be negative.

    Rewards are those of `NumberQuestion`: 1 for the right number, otherwise 0 or -0.1.

    Args:
        operands: how many numbers an expression has, from 2 to 20.
        digits: how many digits a number has at most, from 1 to 9. Numbers are uniform from 1 to 10**digits - 1.
        operators: which of the signs `+-*` occur.
        use_format_error_reward: whether a reply without a number costs 0.1.
    """

    def __init__(
        self, operands: int = 3, digits: int = 2, operators: str = "+-*", use_format_error_reward: bool = False
    ) -> None:
        super().__init__(use_format_error_reward)
        self.operands = check_int("operands", operands, 2, 20)
        self.max_number = 10 ** check_int("digits", digits, 1, 9) - 1
        """The largest number of a question."""
        if not operators or len(set(operators)) < len(operators) or not set(operators) <= set(expressions.OPERATORS):
            raise ConfigError(f"operators holds one or more of '+', '-' and '*', each once, not {operators!r}")
        self.operators = operators
        self.expression: expressions.Expression = 0
        """The expression that is asked for."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.expression = expressions.draw(self.rng, self.operands, self.max_number, self.operators)
        return (
            f"What is {expressions.text(self.expression)}?\n"
            f"You may think first. Give the result as an {self.answer_form}, for example \\boxed{{-7}}; "
            "only the last box counts."
        )

    def _result(self) -> int:
        return expressions.value(self.expression)

    @property
    def steps(self) -> int:
        """The operations of the expression."""
        return self.operands - 1

    def sample_action(self) -> str:
        """The result of another expression of the same kind: an answer of plausible size."""
        other = expressions.draw(self.action_rng, self.operands, self.max_number, self.operators)
        return in_a_box(expressions.value(other))
