"""Expressions, compared with Python's own parsing of them."""

import ast
import random

import pytest

from gem_envs_math import expressions
from gem_envs_math.expressions import Operation


@pytest.mark.parametrize("operators", ["+", "-", "*", "+-", "+-*"])
@pytest.mark.parametrize("operands", [2, 3, 7, 20])
def test_the_text_of_an_expression_evaluates_to_its_value(operands, operators):
    rng = random.Random(operands)
    for _ in range(100):
        drawn = expressions.draw(rng, operands, 99, operators)
        written = expressions.text(drawn)
        assert eval(written) == expressions.value(drawn)
        numbers = [node.value for node in ast.walk(ast.parse(written)) if isinstance(node, ast.Constant)]
        assert len(numbers) == operands
        assert all(1 <= number <= 99 for number in numbers)


def test_all_numbers_operators_and_shapes_occur():
    rng = random.Random(0)
    drawn = [expressions.draw(rng, 3, 4, "+-*") for _ in range(20_000)]
    assert len({(type(e.left), type(e.right)) for e in drawn if isinstance(e, Operation)}) == 2
    # Two shapes, two operators of three, three numbers of four.
    assert len(set(drawn)) == 2 * 3**2 * 4**3


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        (Operation("*", Operation("+", 1, 2), 3), "(1 + 2) * 3"),
        (Operation("+", 1, Operation("*", 2, 3)), "1 + 2 * 3"),
        (Operation("-", 1, Operation("-", 2, 3)), "1 - (2 - 3)"),
        (Operation("-", 1, Operation("*", 2, 3)), "1 - 2 * 3"),
        (Operation("-", Operation("-", 1, 2), 3), "1 - 2 - 3"),
        (Operation("+", 1, Operation("-", 2, 3)), "1 + 2 - 3"),
        (Operation("*", 1, Operation("*", 2, 3)), "1 * 2 * 3"),
    ],
)
def test_brackets_are_written_only_where_they_change_the_value(expression, written):
    assert expressions.text(expression) == written
