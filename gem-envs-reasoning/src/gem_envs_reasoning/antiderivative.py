"""The program of a grader process: is one expression an antiderivative of another?

Deciding it with sympy may take for ever, so each answer gets a fork of its own, with a limit on its time on the
processor that the kernel keeps. It imports sympy, the reading of expressions and nothing else of ours.
"""

import ast
import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any

import sympy

from gem_envs_reasoning.expressions import MOST_BITS, parsed
from gem_envs_reasoning.graders import RIGHT, WRONG

SECONDS = 2.0
"""Processor time of an answer. Nearly all take less than 0.1 s."""
MEMORY = 4 << 30

_NAMES = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
_CONSTANTS = {"pi": sympy.pi, "E": sympy.E}
_PLACES = (
    sympy.Rational(61803, 100000),
    sympy.Rational(141421, 100000),
    sympy.Rational(-27183, 40000),
    sympy.Rational(51, 7),
)
"""Where two functions are compared before anything is proved."""
_CLOSE = sympy.Float("1e-6")


def is_antiderivative(answer: str, integrand: str, variable: str) -> bool:
    """Whether the derivative of `answer` by `variable` is `integrand`. Every other name is a constant.

    Raises:
        ValueError: `integrand` cannot be read.
    """
    x = sympy.Symbol(variable)
    function = _built(parsed(integrand))
    difference: Any = sympy.diff(_built(parsed(answer)), x) - function
    if difference == 0:
        return True
    return not _differ(difference, function, x) and sympy.simplify(difference) == 0


def _differ(difference: Any, function: Any, x: Any) -> bool:
    """Whether the difference is plainly not 0 somewhere; simplifying what is not 0 takes the longest."""
    constants = {
        name: sympy.Rational(3 + number, 7)
        for number, name in enumerate(sorted(difference.free_symbols - {x}, key=str))
    }
    for place in _PLACES:
        size, at = (each.evalf(15, subs={x: place, **constants}) for each in (difference, function))
        if size.is_number and at.is_number and size.is_finite and at.is_finite and abs(size) > _CLOSE * (1 + abs(at)):
            return True
    return False


def _built(tree: ast.expr | None) -> Any:
    """A tree as an expression of sympy's; nothing is evaluated but arithmetic."""
    match tree:
        case ast.Constant(value=int() as number):
            return sympy.Integer(number)
        case ast.Constant(value=float() as number):
            return sympy.Float(number)
        case ast.Name(id=name):
            return _CONSTANTS.get(name, sympy.Symbol(name))
        case ast.UnaryOp(op=operator, operand=operand):
            return -_built(operand) if isinstance(operator, ast.USub) else _built(operand)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return getattr(sympy, _NAMES.get(name, name))(_built(argument))
        case ast.BinOp(left=left, op=operator, right=right):
            one, other = _built(left), _built(right)
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


def serve() -> None:
    """Grade a request per line of standard input, until its end: one byte for each."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What sympy loads and remembers on first use, every fork has.
    is_antiderivative("exp(x)*sin(x)/2 - exp(x)*cos(x)/2 + x*log(x) - x", "exp(x)*sin(x) + log(x)", "x")
    is_antiderivative("sin(x)**2 + sqrt(2*x + 1)**3/3", "sin(2*x) + sqrt(2*x + 1)", "x")
    is_antiderivative("x**3", "x**2", "x")
    libc = ctypes.CDLL(None)
    while request := sys.stdin.buffer.readline():
        process = os.fork()
        if process == 0:
            _grade(json.loads(request), libc)
        _, status = os.waitpid(process, 0)
        os.write(1, RIGHT if status == 0 else WRONG)


def _grade(request: list[str], libc: Any) -> None:
    """Never returns: the status says whether the answer is right."""
    with contextlib.suppress(AttributeError, OSError):  # Linux: whoever ends the grader ends this
        libc.prctl(1, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends a process that does not handle it
    try:
        os._exit(0 if is_antiderivative(*request) else 1)
    finally:
        os._exit(1)


if __name__ == "__main__":
    serve()
