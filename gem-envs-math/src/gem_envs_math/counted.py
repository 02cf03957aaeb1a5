"""Numbers that count the operations of a solution: its steps.

A kind of generated problem works its answer out from the numbers of its question, made `counted`. One step is an
addition, subtraction, multiplication, division, division with remainder, power, root, logarithm, factorial, binomial
coefficient or comparison of two numbers. What needs no work is free: adding 0, multiplying or dividing by 1 or -1,
changing a sign, and comparing with 0. So is remembering a theorem: a problem that takes several has more to work out.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

Number = int | Fraction


class _Work:
    """The steps that the numbers of one solution took together."""

    steps = 0


class _Counted(Fraction):
    """A fraction whose operations count; their results do so too."""

    work: _Work

    def __new__(cls, value: Number, work: _Work) -> "_Counted":
        self = super().__new__(cls, value)
        self.work = work
        return self

    def __neg__(self) -> Fraction:
        return _Counted(-Fraction(self), self.work)

    def __abs__(self) -> Fraction:
        return _Counted(abs(Fraction(self)), self.work)

    def __divmod__(self, other: Any) -> tuple[Any, Fraction]:
        self.work.steps += 1
        quotient, rest = divmod(Fraction(self), other)
        return _Counted(quotient, self.work), _Counted(rest, self.work)


def _is_free(name: str, left: Fraction, right: Fraction) -> bool:
    if name in ("lt", "le", "gt", "ge") or name in ("add", "sub"):
        return 0 in (left, right)
    if name == "mul":
        return bool({left, right} & {0, 1, -1})
    if name == "pow":
        return right in (0, 1) or left in (0, 1)
    return left == 0 or right in (1, -1)


def _counting(name: str, *, swapped: bool = False) -> Callable[[_Counted, Number], Any]:
    carry_out: Callable[[Any, Any], Any] = getattr(operator, name)

    def counted_operation(self: _Counted, other: Number) -> Any:
        sides = (Fraction(other), Fraction(self)) if swapped else (Fraction(self), Fraction(other))
        self.work.steps += not _is_free(name, *sides)
        # An integer keeps a power exact.
        power = name == "pow" and sides[1].denominator == 1
        result = carry_out(sides[0], int(sides[1]) if power else sides[1])
        return result if isinstance(result, bool) else _Counted(result, self.work)

    return counted_operation


# To a type checker, these are still the operators of a fraction.
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(_Counted, f"__{_name}__", _counting(_name))
    setattr(_Counted, f"__r{_name}__", _counting(_name, swapped=True))
for _name in ("lt", "le", "gt", "ge"):
    setattr(_Counted, f"__{_name}__", _counting(_name))


def counted(*values: Number) -> list[Fraction]:
    """The numbers, to work with: they count their operations together."""
    work = _Work()
    return [_Counted(value, work) for value in values]


def _work(number: Number) -> _Work:
    if not isinstance(number, _Counted):
        raise TypeError(f"{number!r} was not worked out from the counted numbers of a question")
    return number.work


def steps_of(number: Number) -> int:
    """The steps of the solution that led to `number`.

    Raises:
        TypeError: it is not a counted number.
    """
    return _work(number).steps


def like(value: Number, number: Number) -> Fraction:
    """`value` as a number of the solution that led to `number`; takes no step."""
    return _Counted(value, _work(number))


def _once(value: Number, number: Number) -> Fraction:
    _work(number).steps += 1
    return like(value, number)


def root(number: Fraction, degree: int = 2) -> Fraction | None:
    """The real root, in one step; None if there is none or it is not rational."""
    if number < 0 and degree % 2 == 0:
        return None
    sign = -1 if number < 0 else 1
    found = sign * Fraction(*(round(part ** (1 / degree)) for part in (abs(number.numerator), number.denominator)))
    return _once(found, number) if found**degree == number else None


def log(number: Fraction, base: int) -> Fraction | None:
    """The logarithm, in one step; None if it is not an integer or not real."""
    if number <= 0:
        return None
    found = round(math.log(number, base))
    return _once(found, number) if Fraction(base) ** found == number else None


def choose(n: Fraction, k: Number) -> Fraction:
    """The binomial coefficient, in one step; in none if nothing or everything is chosen."""
    found = math.comb(int(n), int(k)) if k >= 0 else 0
    return like(found, n) if found == 1 else _once(found, n)


def factorial(n: Fraction) -> Fraction:
    """n!, in one step."""
    return _once(math.factorial(int(n)), n)
