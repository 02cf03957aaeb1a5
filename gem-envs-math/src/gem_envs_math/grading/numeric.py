"""Values as numbers with so many digits."""

import cmath
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from gem_envs_math.grading.nodes import Node
from gem_envs_math.grading.rational import NotRational, TooLarge, Undefined, counted, exact

_LARGEST_EXPONENT = 10**6


class Functions:
    """Complex arithmetic: the functions and constants of `cmath`, or of mpmath with more digits."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._is_double = library is cmath
        m: Any = library
        self.constants: Mapping[str, Any] = {"pi": +m.pi, "e": +m.e, "i": 1j if self._is_double else m.mpc(0, 1)}
        log = self.log
        self.calls: Mapping[str, Callable[[Any], Any]] = {
            "sin": self._small(m.sin), "cos": self._small(m.cos), "tan": self._small(m.tan),
            "cot": lambda z: 1 / self._small(m.tan)(z), "sec": lambda z: 1 / self._small(m.cos)(z),
            "csc": lambda z: 1 / self._small(m.sin)(z), "asin": m.asin, "acos": m.acos, "atan": m.atan,
            "asinh": m.asinh, "acosh": m.acosh, "atanh": m.atanh, "asec": lambda z: m.acos(1 / z),
            "acsc": lambda z: m.asin(1 / z),
            "acot": lambda z: self.constants["pi"] / 2 - m.atan(z), "sinh": self._small(m.sinh, 1e5),
            "cosh": self._small(m.cosh, 1e5), "tanh": self._small(m.tanh, 1e5),
            "coth": lambda z: 1 / self._small(m.tanh, 1e5)(z), "ln": log, "lg": lambda z: log(z) / log(10),
            "log": lambda z: log(z) / log(10), "abs": abs, "Re": lambda z: z.real, "Im": lambda z: z.imag,
            "floor": lambda z: self._round(z, math.floor), "ceil": lambda z: self._round(z, math.ceil),
            "arg": lambda z: m.phase(z) if self._is_double else m.arg(z),
        }  # fmt: skip

    def number(self, value: Fraction) -> Any:
        """A rational number."""
        if self._is_double:
            return complex(value.numerator / value.denominator)
        return self._library.mpf(value.numerator) / value.denominator

    def log(self, value: Any) -> Any:
        """The natural logarithm."""
        if not value:
            raise Undefined
        return self._library.log(value)

    def power(self, base: Any, exponent: Any) -> Any:
        """`base ** exponent`."""
        if base:
            size = abs(exponent) * max(
                1.0, abs(math.log(abs(base))) if self._is_double else abs(self._library.ln(abs(base)))
            )
            if size > _LARGEST_EXPONENT:
                raise TooLarge
        elif not exponent.real > 0:
            raise Undefined
        return base**exponent

    def _small(self, function: Callable[[Any], Any], largest: float = 1e15) -> Callable[[Any], Any]:
        def checked(value: Any) -> Any:
            if abs(value) > largest:
                raise TooLarge
            return function(value)

        return checked

    def _round(self, value: Any, function: Callable[[Any], int]) -> Any:
        if abs(value.imag) > 1e-9 or abs(value) > 1e15:
            raise NotRational
        nearest = round(float(value.real))
        # A value beside an integer is that integer: its last digits are noise.
        real = float(value.real)
        whole = nearest if abs(real - nearest) < 1e-9 else function(real)
        return self.number(Fraction(whole))


class Point:
    """Evaluates at one point.

    Args:
        functions: arithmetic in which to work.
        values: the values of the variables.
    """

    def __init__(self, functions: Functions, values: Mapping[str, Fraction]) -> None:
        self._functions = functions
        self._values = values
        self.scale = 1.0
        """The largest size on the way: what the difference of two results is compared with."""

    def at(self, node: Node) -> Any:
        value = self._at(node)
        size = abs(value)
        self.scale = max(self.scale, size)
        return value

    def _at(self, node: Node) -> Any:
        op, args = node.op, node.args
        functions = self._functions
        if op == "number":
            return functions.number(node.value)
        if op == "name":
            return functions.number(self._values[node.name])
        if op == "constant":
            return functions.constants[node.name]
        first = self.at(args[0])
        if op == "add":
            return first + self.at(args[1])
        if op == "mul":
            return first * self.at(args[1])
        if op == "neg":
            return 0 - first  # not -0.0, whose square root is on the other side
        if op == "div":
            below = self.at(args[1])
            if not below:
                raise Undefined
            return first / below
        if op == "percent":
            return first / 100
        if op == "degree":
            return first * functions.constants["pi"] / 180
        if op == "pow":
            return self._power(first, args)
        if op == "root":
            degree = exact(args[1])
            return self._raised(first, 1 / degree) if degree else functions.power(first, 1 / self.at(args[1]))
        if op == "call":
            return self._call(node, first)
        raise NotRational

    def _power(self, base: Any, args: tuple[Node, ...]) -> Any:
        exponent = exact(args[1])
        if exponent is not None:
            return self._raised(base, exponent)
        return self._functions.power(base, self.at(args[1]))

    def _raised(self, base: Any, exponent: Fraction) -> Any:
        if not base and exponent <= 0:
            raise Undefined
        if exponent.denominator == 1:
            return self._functions.power(base, self._functions.number(exponent))
        negative = not base.imag and base.real < 0
        if negative and exponent.denominator % 2:  # the real root, as school has it
            result = self._functions.power(-base, self._functions.number(exponent))
            return -result if exponent.numerator % 2 else result
        return self._functions.power(base, self._functions.number(exponent))

    def _call(self, node: Node, first: Any) -> Any:
        name = node.name
        if name in ("factorial", "binomial"):
            return self._functions.number(Fraction(counted(node)))
        if name in ("max", "min", "gcd", "lcm"):
            values = [exact(part) for part in node.args]
            if any(value is None for value in values):
                raise NotRational
            known = [value for value in values if value is not None]
            if name in ("max", "min"):
                return self._functions.number(max(known) if name == "max" else min(known))
            if any(value.denominator != 1 for value in known):
                raise NotRational
            whole = [int(value) for value in known]
            return self._functions.number(Fraction(math.gcd(*whole) if name == "gcd" else math.lcm(*whole)))
        function = self._functions.calls.get(name)
        if function is None or len(node.args) != 1:
            raise NotRational
        return function(first)
