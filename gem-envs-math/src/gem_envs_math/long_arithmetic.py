"""Long arithmetic: products that are too long to do mentally."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from gem.answers.number import MAX_DIGITS
from gem.checks import check_int
from gem.tool import ToolCall
from gem.wrappers.tool_env import ToolResult
from gem_envs_math.notation import in_a_box
from gem_envs_math.number_question import NumberQuestion

MOST_DIGITS = MAX_DIGITS // 2
"""The most digits of a factor, such that `read_number` can still read the product."""


class LongArithmetic(NumberQuestion):
    r"""Multiply two long numbers. One turn; an action is `\boxed{42}`.

    For training and testing the use of tools: a model cannot multiply twenty digits by twenty in one reply, and a line
    of Python can. `gem.make("math:LongArithmetic-v0", wrappers="python_tool")` gives the agent Python; the expert then
    calls `python` first. Without the tool, the expert answers directly.

    Rewards are those of `NumberQuestion`: 1 for the right number, otherwise 0 or -0.1.

    Args:
        digits: how many digits each factor has, from 1 to 500. Factors are uniform among the numbers of that
            length.
        use_format_error_reward: whether a reply without a number costs 0.1.
    """

    def __init__(self, digits: int = 20, use_format_error_reward: bool = False) -> None:
        super().__init__(use_format_error_reward)
        self.digits = check_int("digits", digits, 1, MOST_DIGITS)
        self.factors = (0, 0)
        """The two numbers to multiply."""

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.factors = self._draw(self.rng)
        first, second = self.factors
        return f"What is {first} * {second}?\nGive the result as an {self.answer_form}; only the last box counts."

    def _draw(self, rng: Random) -> tuple[int, int]:
        smallest, largest = 10 ** (self.digits - 1), 10**self.digits - 1
        return rng.randint(smallest, largest), rng.randint(smallest, largest)

    def _result(self) -> int:
        first, second = self.factors
        return first * second

    @property
    def steps(self) -> int:
        """The products of two digits in long multiplication."""
        return self.digits**2

    def sample_action(self) -> str:
        """The product of two other factors: an answer of plausible size."""
        first, second = self._draw(self.action_rng)
        return in_a_box(first * second)

    def sample_call(self) -> ToolCall | None:
        """A call of `python` with two other factors, with probability 1/2."""
        return _multiply(*self._draw(self.action_rng)) if self.action_rng.random() < 0.5 else None

    def expert_call(self, results: Sequence[ToolResult]) -> ToolCall | None:
        """A call of `python` with the factors, once."""
        return None if results else _multiply(*self.factors)


def _multiply(first: int, second: int) -> ToolCall:
    return ToolCall("python", {"code": f"print({first} * {second})"})
