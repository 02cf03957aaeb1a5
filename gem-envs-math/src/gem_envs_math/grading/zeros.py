"""The zeros of rational functions, compared over the complex numbers without working them out.

On a random line, a rational function of any variables is one of a single variable. Two have the same zeros there if
the squarefree parts of their numerators are the same; and they have the same zeros everywhere if they have the same on
a random line, but for a probability as small as that of `gem_envs_math.grading.rational`, whose prime is used.
"""

from collections.abc import Sequence

from gem_envs_math.grading.nodes import Node
from gem_envs_math.grading.rational import NotRational, Undefined, counted, exact, field

_HIGHEST = 48
"""The highest degree of a polynomial that is worked out."""
Polynomial = list[int]
"""Its coefficients modulo the prime, that of the constant first, without zeros at the end."""


def same_zeros(first: Node, second: Node) -> bool | None:
    """Tell whether both are 0 at the same places, at one at least; None if they are not both rational functions.

    Raises:
        TooLarge: a number has too many digits.
    """
    try:
        ours, theirs = _zeros(first), _zeros(second)
    except (NotRational, Undefined):
        return None
    return len(ours) > 1 and ours == theirs


def _zeros(node: Node) -> Polynomial:
    """The polynomial with the same zeros, each once, whose first coefficient is 1."""
    above, below = _fraction(node)
    above = _quotient(above, _common(above, below)) if len(below) > 1 else above
    slope = _trimmed([power * coefficient for power, coefficient in enumerate(above)][1:])
    return _monic(_quotient(above, _common(above, slope)) if slope else above)


def _fraction(node: Node) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator."""
    op, args = node.op, node.args
    here = field()
    if op == "name":
        return _trimmed([here.value("." + node.name, 0), here.value("." + node.name, 1)]), [1]
    if op in ("number", "constant") or (op == "call" and node.name in ("factorial", "binomial")):
        return _trimmed([counted(node) if op == "call" else here.at(node)]), [1]
    if op not in ("add", "mul", "neg", "div", "pow", "percent"):
        raise NotRational
    above, below = _fraction(args[0])
    if op == "neg":
        return _product(above, [-1]), below
    if op == "percent":
        return above, _product(below, [100])
    if op == "pow":
        exponent = exact(args[1])
        if exponent is None or exponent.denominator != 1 or abs(exponent) * max(map(len, (above, below))) > _HIGHEST:
            raise NotRational
        if exponent < 0:
            above, below = below, above
        powers: list[Polynomial] = [[1], [1]]
        for _ in range(abs(int(exponent))):
            powers = [_product(powers[0], above), _product(powers[1], below)]
        above, below = powers
    elif op == "add":
        other, under = _fraction(args[1])
        above, below = _sum(_product(above, under), _product(other, below)), _product(below, under)
    else:
        other, under = _fraction(args[1])
        if op == "div":
            other, under = under, other
        above, below = _product(above, other), _product(below, under)
    if not below:
        raise Undefined
    return above, below


def _trimmed(coefficients: Sequence[int]) -> Polynomial:
    found = [coefficient % field().prime for coefficient in coefficients]
    while found and not found[-1]:
        found.pop()
    return found


def _sum(first: Polynomial, second: Polynomial) -> Polynomial:
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    return _trimmed([*map(int.__add__, longer, shorter), *longer[len(shorter) :]])


def _product(first: Polynomial, second: Polynomial) -> Polynomial:
    if not first or not second:
        return []
    if len(first) + len(second) > _HIGHEST:
        raise NotRational
    found = [0] * (len(first) + len(second) - 1)
    for place, factor in enumerate(first):
        for power, coefficient in enumerate(second):
            found[place + power] += factor * coefficient
    return _trimmed(found)


def _divided(first: Polynomial, second: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder; `second` is not 0."""
    prime = field().prime
    rest, inverse = list(first), pow(second[-1], -1, prime)
    quotient = [0] * max(0, len(first) - len(second) + 1)
    for place in reversed(range(len(quotient))):
        factor = quotient[place] = rest[place + len(second) - 1] * inverse % prime
        for power, coefficient in enumerate(second):
            rest[place + power] = (rest[place + power] - factor * coefficient) % prime
    return _trimmed(quotient), _trimmed(rest)


def _quotient(first: Polynomial, second: Polynomial) -> Polynomial:
    return _divided(first, second)[0]


def _common(first: Polynomial, second: Polynomial) -> Polynomial:
    """The greatest common divisor; of 0 and a polynomial, that polynomial."""
    while second:
        first, second = second, _divided(first, second)[1] if len(first) >= len(second) else first
    return first


def _monic(polynomial: Polynomial) -> Polynomial:
    inverse = pow(polynomial[-1], -1, field().prime) if polynomial else 1
    return _trimmed([coefficient * inverse for coefficient in polynomial])
