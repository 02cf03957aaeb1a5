"""Equality of two values: exact for rational functions, else to more digits than anybody writes."""

import cmath
import threading
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from gem.work.lifetime import hold_during_fork
from gem_envs_math.grading.nodes import Node, names
from gem_envs_math.grading.numeric import Functions, Point
from gem_envs_math.grading.rational import RANDOM, NotRational, TooLarge, Undefined, field, proportional

_DIGITS = 40
"""Digits beyond those that the answers have."""
_MOST_DIGITS = 1500
_POINTS = 24
_DOUBLES = Functions(cmath)
_lock = threading.RLock()
hold_during_fork(_lock)


def equal(gold: Node, answer: Node, digits: int) -> bool | None:
    """Tell whether two values are equal; None if that cannot be decided here. Together they have `digits` digits.

    With variables: whether they are equal wherever the gold is defined, as functions of real numbers.

    Raises:
        TooLarge: the answer has too many digits to be worked out, and the gold does not.
    """
    here = field()
    try:
        return here.at(gold) == here.at(answer)
    except (NotRational, TooLarge, Undefined):
        pass
    try:
        return _numerically_equal(gold, answer, digits)
    except NotRational:
        return None


def _numerically_equal(gold: Node, answer: Node, digits: int) -> bool | None:
    variables = sorted(names(gold) | names(answer))
    has_i = "i" in _constants(gold)
    points = 0
    last: dict[str, Fraction] = {}
    for attempt in range(_POINTS if variables else 1):
        values = {name: _drawn(attempt) for name in variables}
        compared = _compare_doubles(gold, answer, values, has_i)
        if compared is False:
            return False
        if compared is None:
            continue
        points += 1
        last = values
        if points == 6:
            break
    if variables and not points:
        return None
    return _compare_digits(gold, answer, last, digits)


def _constants(node: Node) -> set[str]:
    if node.op == "constant":
        return {node.name}
    found: set[str] = set()
    for each in node.args:
        found |= _constants(each)
    return found


def _drawn(attempt: int) -> Fraction:
    """A value of a variable: of three points, one has all variables positive, one negative; later ones are larger."""
    value = Fraction(RANDOM.randrange(1, 1 << 40), 1 << 39) + Fraction(1, 64)
    if attempt >= 12:
        value *= 5
    return -value if attempt % 3 == 1 or (attempt % 3 == 2 and RANDOM.random() < 0.5) else value


def _compare_doubles(gold: Node, answer: Node, values: Mapping[str, Fraction], has_i: bool) -> bool | None:
    """Compare at one point: False if they certainly differ, True if they may be equal, None if it says nothing."""
    point = Point(_DOUBLES, values)
    try:
        right = point.at(gold)
    except (ArithmeticError, ValueError, Undefined, TooLarge):
        return None if values else True
    if cmath.isnan(right) or cmath.isinf(right):
        return None if values else True
    if values and not has_i and abs(right.imag) > 1e-9 * point.scale:
        return None
    try:
        given = point.at(answer)
    except (Undefined, ZeroDivisionError):
        return False
    except (ArithmeticError, ValueError, TooLarge):
        return True
    if cmath.isnan(given) or cmath.isinf(given):
        return True
    # Where terms of very different sizes cancel, doubles say nothing.
    return abs(right - given) <= 1e-9 * point.scale


def _compare_digits(gold: Node, answer: Node, values: Mapping[str, Fraction], digits: int) -> bool | None:
    needed = _DIGITS + digits
    with _lock:
        library = _many_digits()
        for _ in range(3):
            if needed > _MOST_DIGITS:
                raise TooLarge
            library.dps = needed
            point = Point(Functions(library), values)
            try:
                right = point.at(gold)
            except (ArithmeticError, ValueError, Undefined, TooLarge):
                return None
            try:
                given = point.at(answer)
            except (ArithmeticError, ValueError, Undefined):
                return False
            lost = max(0, int(library.log10(point.scale)))
            if needed >= _DIGITS + digits + lost:
                return bool(abs(right - given) <= library.mpf(10) ** (lost + 12 - needed))
            needed = _DIGITS + digits + lost
    return None


@cache
def _many_digits() -> Any:
    import mpmath  # pyright: ignore[reportMissingTypeStubs]: 0.05 s, and only values with roots and functions need it

    # A context of its own: others may use mpmath's.
    return mpmath.mp.clone()


def sign_of_ratio(first: Node, second: Node) -> int | None:
    """The sign of the constant that one rational function is of the other; 0 if there is none, None if that is not
    known."""
    same = proportional(first, second)
    if not same:
        return None if same is None else 0
    for attempt in range(_POINTS):
        drawn = {name: _drawn(attempt) for name in sorted(names(first) | names(second))}
        try:
            above, below = (complex(Point(_DOUBLES, drawn).at(each)).real for each in (first, second))
        except (ArithmeticError, ValueError, Undefined, TooLarge, NotRational):
            continue
        if abs(above) > 1e-6 and abs(below) > 1e-6:
            return 1 if above * below > 0 else -1
    return None


def approximate(node: Node) -> complex | None:
    """The value of a constant as a double, or None."""
    try:
        value = complex(Point(_DOUBLES, {}).at(node))
    except (ArithmeticError, ValueError, KeyError, Undefined, TooLarge, NotRational):
        return None
    return None if cmath.isnan(value) or cmath.isinf(value) else value
