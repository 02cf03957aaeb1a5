"""Rational numbers, and equality of rational functions: exactly."""

import math
import random
from fractions import Fraction
from functools import cache
from hashlib import blake2b

from gem_envs_math.grading.nodes import Node

# Drawn anew in each process, so that no answer can be made to fit. They do not decide: another draw gives the same
# verdict, except with a probability below 2**-60.
RANDOM = random.SystemRandom()
_MOST_BITS = 1 << 14


class TooLarge(Exception):
    """A value has too many digits, or needs them."""


class NotRational(Exception):
    """Error: a function or a form cannot be worked out here."""


class Undefined(Exception):
    """The value does not exist, as with a division by zero."""


def exact(node: Node) -> Fraction | None:
    """The value of `node` if it is a rational number that can be worked out without effort, else None.

    Raises:
        TooLarge: it is the factorial of a large number.
    """
    op = node.op
    if op == "number":
        return node.value
    if op == "degree" or not node.args:
        return None
    if op == "call" and node.name in ("factorial", "binomial"):
        try:
            return Fraction(counted(node))
        except NotRational:
            return None
    parts = [exact(part) for part in node.args]
    first = parts[0]
    if first is None or (len(parts) > 1 and parts[1] is None):
        return None
    if op == "neg":
        return -first
    if op == "percent":
        return first / 100
    if len(parts) != 2:
        return None
    second = parts[1]
    assert second is not None
    if op == "add":
        result = first + second
    elif op == "mul":
        result = first * second
    elif op == "div" and second:
        result = first / second
    elif op == "pow" and second.denominator == 1 and (first or second > 0):
        if abs(second) * (first.numerator.bit_length() + first.denominator.bit_length()) > _MOST_BITS:
            return None
        result = first ** int(second)
    else:
        return None
    return result if result.numerator.bit_length() + result.denominator.bit_length() < 2 * _MOST_BITS else None


class Field:
    """The integers modulo a prime of 127 bits, with a root of -1 and two points that nobody knows."""

    def __init__(self) -> None:
        while True:
            self.prime = RANDOM.getrandbits(127) | (1 << 126) | 1
            if self.prime % 4 == 1 and _is_prime(self.prime):
                break
        while True:
            self._root = pow(RANDOM.randrange(2, self.prime), (self.prime - 1) // 4, self.prime)
            if self._root * self._root % self.prime == self.prime - 1:
                break
        self._keys = RANDOM.randbytes(32), RANDOM.randbytes(32)

    def at(self, node: Node, which: int = 0) -> int:
        """The value of a rational function at point 0 or 1, where variables, pi and e have random values.

        Raises:
            NotRational: it is not a rational function of a size that can be worked out.
            Undefined: a denominator is 0 there.
        """
        op, args = node.op, node.args
        prime = self.prime
        if op == "number":
            value = node.value
            if value.denominator == 1:
                return value.numerator % prime
            return value.numerator * pow(value.denominator, -1, prime) % prime
        if op == "name":
            # pi is not a variable of that name
            return self.value("." + node.name, which)
        if op == "constant":
            return self._root if node.name == "i" else self.value(node.name, 0)
        if op == "add":
            return (self.at(args[0], which) + self.at(args[1], which)) % prime
        if op == "mul":
            return self.at(args[0], which) * self.at(args[1], which) % prime
        if op == "neg":
            return -self.at(args[0], which) % prime
        if op == "div":
            below = self.at(args[1], which)
            if not below:
                raise Undefined
            return self.at(args[0], which) * pow(below, -1, prime) % prime
        if op == "percent":
            return self.at(args[0], which) * pow(100, -1, prime) % prime
        if op == "degree":
            return self.at(args[0], which) * self.value("pi", 0) * pow(180, -1, prime) % prime
        if op == "pow":
            exponent = exact(args[1])
            if exponent is None or exponent.denominator != 1:
                raise NotRational
            base = self.at(args[0], which)
            if not base and exponent <= 0:
                raise Undefined
            return pow(base, int(exponent), prime)
        if op == "call" and node.name in ("factorial", "binomial"):
            return counted(node) % prime
        raise NotRational

    def value(self, name: str, which: int) -> int:
        """The random value of a name at point 0 or 1."""
        key = self._keys[which]
        return int.from_bytes(blake2b(name.encode(), key=key, digest_size=24).digest()) % self.prime


def _is_prime(number: int) -> bool:
    if any(number % small == 0 for small in (3, 5, 7, 11, 13, 17, 19, 23)):
        return False
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(24):
        power = pow(RANDOM.randrange(2, number - 1), odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def counted(node: Node) -> int:
    """A factorial or a binomial coefficient of small integers."""
    numbers = [exact(part) for part in node.args]
    if any(each is None or each.denominator != 1 or each < 0 for each in numbers):
        raise NotRational
    whole = [int(each) for each in numbers if each is not None]
    if max(whole) > 2000:
        raise TooLarge
    return math.factorial(whole[0]) if node.name == "factorial" else math.comb(*whole)


@cache
def field() -> Field:
    return Field()


def proportional(first: Node, second: Node) -> bool | None:
    """Tell whether one rational function is a constant times the other; None if they are not both rational."""
    here = field()
    try:
        (a, b), (c, d) = ((here.at(first, which), here.at(second, which)) for which in (0, 1))
    except (NotRational, Undefined, TooLarge):
        return None
    if not (a or c) or not (b or d):
        return not (a or b or c or d)
    return not (a * d - b * c) % here.prime
