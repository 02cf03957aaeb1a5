"""Random integer expressions: drawing, formatting and evaluating them."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import add, mul, sub

OPERATORS: Mapping[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul}


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its two operands."""

    operator: str
    left: "Expression"
    right: "Expression"


Expression = int | Operation


def draw(rng: random.Random, operands: int, max_number: int, operators: str) -> Expression:
    """A random expression: numbers from 1 to `max_number` at the leaves of a random binary tree.

    Args:
        rng: draws everything.
        operands: how many numbers, at least 1.
        max_number: the largest of them that may be drawn.
        operators: signs from `OPERATORS`; each operation draws one of them uniformly.
    """
    if operands == 1:
        return rng.randint(1, max_number)
    operator = rng.choice(operators)
    on_the_left = rng.randint(1, operands - 1)
    left = draw(rng, on_the_left, max_number, operators)
    return Operation(operator, left, draw(rng, operands - on_the_left, max_number, operators))


def value(expression: Expression) -> int:
    """The value of the expression."""
    if isinstance(expression, int):
        return expression
    return OPERATORS[expression.operator](value(expression.left), value(expression.right))


def text(expression: Expression) -> str:
    """The expression as text, with brackets only where they change the value."""
    if isinstance(expression, int):
        return str(expression)
    left, right = text(expression.left), text(expression.right)
    if expression.operator == "*":
        left, right = _bracketed(expression.left, left), _bracketed(expression.right, right)
    elif expression.operator == "-":
        right = _bracketed(expression.right, right)
    return f"{left} {expression.operator} {right}"


def _bracketed(expression: Expression, written: str) -> str:
    is_sum = isinstance(expression, Operation) and expression.operator != "*"
    return f"({written})" if is_sum else written
