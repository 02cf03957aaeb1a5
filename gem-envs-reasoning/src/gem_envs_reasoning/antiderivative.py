"""Antiderivatives: is an expression one of another?

Deciding that with sympy may never end, so each answer is graded in a fork of a process with this module;
`gem.work.fork_server` calls its last functions. Of this package it imports only the parser of expressions.
"""

import ast
import resource
from collections.abc import Callable
from typing import Any

import sympy

from gem_envs_reasoning.expressions import MOST_BITS, parse

MEMORY = 4 << 30

_SYMPY_NAMES = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_CONSTANTS = {"pi": sympy.pi, "E": sympy.E}
_TEST_POINTS = (
    sympy.Rational(61803, 100000),
    sympy.Rational(141421, 100000),
    sympy.Rational(-27183, 40000),
    sympy.Rational(51, 7),
)
"""Points at which two functions are compared numerically before sympy tries to prove that they are equal."""
_TOLERANCE = sympy.Float("1e-6")


def is_antiderivative(answer: str, integrand: str, variable: str) -> bool:
    """Tell whether the derivative of `answer` by `variable` is `integrand`. All other names are constants.

    Raises:
        ValueError: `integrand` cannot be read.
    """
    x = sympy.Symbol(variable)
    function = _to_sympy(parse(integrand))
    difference: Any = sympy.diff(_to_sympy(parse(answer)), x) - function
    if difference == 0:
        return True
    return not _differ(difference, function, x) and sympy.simplify(difference) == 0


def _differ(difference: Any, function: Any, x: Any) -> bool:
    """Tell whether the difference is clearly not 0 at a test point: simplifying such a difference is slowest."""
    constants = {
        name: sympy.Rational(3 + number, 7)
        for number, name in enumerate(sorted(difference.free_symbols - {x}, key=str))
    }
    for point in _TEST_POINTS:
        size, at = (each.evalf(15, subs={x: point, **constants}) for each in (difference, function))
        if (
            size.is_number
            and at.is_number
            and size.is_finite
            and at.is_finite
            and abs(size) > _TOLERANCE * (1 + abs(at))
        ):
            return True
    return False


def _to_sympy(tree: ast.expr | None) -> Any:
    """A parsed expression as one of sympy; only arithmetic is evaluated."""
    match tree:
        case ast.Constant(value=int() as number):
            return sympy.Integer(number)
        case ast.Constant(value=float() as number):
            return sympy.Float(number)
        case ast.Name(id=name):
            return _CONSTANTS.get(name, sympy.Symbol(name))
        case ast.UnaryOp(op=operator, operand=operand):
            return -_to_sympy(operand) if isinstance(operator, ast.USub) else _to_sympy(operand)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return getattr(sympy, _SYMPY_NAMES.get(name, name))(_to_sympy(argument))
        case ast.BinOp(left=left, op=operator, right=right):
            one, other = _to_sympy(left), _to_sympy(right)
            match operator:
                case ast.Add():
                    return one + other
                case ast.Sub():
                    return one - other
                case ast.Mult():
                    return one * other
                case ast.Div():
                    return one / other
                case _:
                    if (
                        one.is_Rational
                        and other.is_Integer
                        and abs(other) * max(abs(one.p), one.q).bit_length() > MOST_BITS
                    ):
                        raise ValueError("a huge power")
                    return one**other
        case _:
            raise ValueError("not an expression")


def warm_up() -> None:
    """Load what sympy imports and caches on first use, so that every fork has it."""
    is_antiderivative("exp(x)*sin(x)/2 - exp(x)*cos(x)/2 + x*log(x) - x", "exp(x)*sin(x) + log(x)", "x")
    is_antiderivative("sin(x)**2 + sqrt(2*x + 1)**3/3", "sin(2*x) + sqrt(2*x + 1)", "x")
    is_antiderivative("x**3", "x**2", "x")


def begin() -> None:
    """Limit the memory of a worker."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def answer(task: list[str], tell: Callable[[Any], None]) -> bool:
    """`is_antiderivative`; False for an answer with which sympy fails."""
    try:
        return is_antiderivative(*task)
    except MemoryError:
        raise
    except Exception:  # sympy raises all kinds of them
        return False
