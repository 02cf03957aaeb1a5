"""Assertions about a program, checked outside of the process in which the program runs."""

import ast
import functools
from typing import cast

from gem_envs_code.tasks import AssertTest, CallTest


@functools.lru_cache(1024)
def as_call(test: AssertTest) -> CallTest | None:
    """`assert f(…) == …` with literals as a call and its result; None for other code."""
    try:
        body = ast.parse(test.code.strip()).body
        ((left, right),) = [_sides(statement) for statement in body]
        if not isinstance(left, ast.Call):
            left, right = right, left
        call = cast("ast.Call", left)
        return CallTest(
            function=cast("ast.Name", call.func).id,
            arguments=tuple(map(ast.literal_eval, call.args)),
            keywords={cast("str", each.arg): ast.literal_eval(each.value) for each in call.keywords},
            result=ast.literal_eval(right),
            same="python",
        )
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        return None


def _sides(statement: ast.stmt) -> tuple[ast.expr, ast.expr]:
    """The two sides of `assert left == right`, or `is` with None, True or False."""
    test = cast("ast.Assert", statement).test
    compared = cast("ast.Compare", test)
    (operator,), (right,) = compared.ops, compared.comparators
    singleton = isinstance(right, ast.Constant) and (right.value is None or isinstance(right.value, bool))
    if not isinstance(operator, ast.Eq) and not (isinstance(operator, ast.Is) and singleton):
        raise ValueError("not a comparison of a result")
    return compared.left, right
