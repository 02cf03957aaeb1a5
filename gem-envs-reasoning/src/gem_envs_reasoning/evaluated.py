"""Answers that reasoning-gym's scorers would run or take for ever to read, found before they get there.

Four scorers call `eval` on an answer and six more sympy's `parse_expr`, which is `eval` as well; so an answer is a
program that the agent may run in this process. A few others accept what is no answer.
"""

import ast
import re

LISTS = frozenset(("binary_matrix", "n_queens", "spiral_matrix", "string_insertion"))
"""Datasets whose scorer tries `eval`, to read a Python list."""

EXPRESSIONS = frozenset(
    ("countdown", "intermediate_integration", "polynomial_multiplication", "puzzle24", "simple_integration")
)
"""Datasets whose scorer reads an expression with sympy."""

MOST_CHARACTERS = 2000
MOST_BITS = 2000
"""Bounds on an expression: its length, and a bound on the bits of its value or the degree of its polynomial."""

_FUNCTIONS = frozenset(
    ("Abs", "E", "Ei", "acos", "asin", "atan", "cos", "cosh", "erf", "erfi", "exp", "ln", "log", "pi", "sin", "sinh",
     "sqrt", "tan", "tanh")
)  # fmt: skip
_HUGE_EXPONENT = re.compile(r"[eE][+-]?[0-9_]{4}")
_NAN = re.compile(r"nan", re.IGNORECASE)


def is_refused(dataset: str, answer: str) -> bool:
    """Whether `answer` must not reach the scorer of `dataset`.

    An unevaluated `Integral(…)` is refused too: its derivative is the integrand, so it would earn full marks for
    repeating the question. So is "nan" as a complex number, whose distance to anything passes for 0.
    """
    if dataset in LISTS:
        return not _is_literal(answer)
    if dataset in EXPRESSIONS:
        return not _is_small_expression(answer)
    if dataset == "complex_arithmetic":
        return _NAN.search(answer) is not None
    # Fractions write such a number out.
    return dataset == "coin_flip" and (len(answer) > MOST_CHARACTERS or _HUGE_EXPONENT.search(answer) is not None)


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_literal(text: str) -> bool:
    """Whether `eval` of `text` fails at once, or makes a list of texts and numbers."""
    if len(text) > 10 * MOST_CHARACTERS:
        return False
    tree = _parsed(text.strip())
    harmless = (ast.Constant, ast.Name, ast.List, ast.Tuple, ast.expr_context, ast.UnaryOp, ast.USub)
    return tree is None or all(isinstance(node, harmless) for node in ast.walk(tree))


def _is_small_expression(text: str) -> bool:
    if len(text) > MOST_CHARACTERS:
        return False
    tree = _parsed(text)
    return tree is not None and _bits(tree) <= MOST_BITS


def _bits(node: ast.expr) -> float:
    """A bound on the bits or the degree of an expression; infinite where it is no plain arithmetic."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool) and abs(value) < 2**MOST_BITS:
            return max(1, int(value).bit_length())
        case ast.Name(id=name) if len(name) == 1 or name in _FUNCTIONS:
            return 1
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _bits(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            return _bits(left) + _bits(right)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _bits(left) * 2 ** min(_bits(right), MOST_BITS)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return _bits(argument)
        case _:
            return float("inf")
