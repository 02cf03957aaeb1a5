"""Writing numbers and polynomials in questions and answers."""

import random
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import TypeVar

from gem_envs_math.counted import Number

N = TypeVar("N", int, Fraction)


def in_a_box(answer: Number | str) -> str:
    """The action that answers with `answer`."""
    return f"\\boxed{{{answer}}}"


def written(number: Number) -> str:
    """`7`, or `-7/2`."""
    return str(number)


def term(factor: Number, letters: str) -> str:
    """A product as in `3x`, `-x` and `7/2 x`; `factor` alone without letters."""
    if not letters:
        return written(factor)
    if factor in (1, -1):
        return letters if factor == 1 else f"-{letters}"
    return f"{written(factor)}{letters}" if Fraction(factor).denominator == 1 else f"{written(factor)} {letters}"


def total(terms: Sequence[tuple[Number, str]]) -> str:
    """A sum of products, without those that are 0: `total([(2, "x"), (-1, "y"), (3, "")])` is `2x - y + 3`."""
    parts = [(factor, letters) for factor, letters in terms if factor]
    if not parts:
        return "0"
    text = term(*parts[0])
    for factor, letters in parts[1:]:
        text += f" {'+' if factor > 0 else '-'} {term(abs(factor), letters)}"
    return text


def quotient(terms: Sequence[tuple[Number, str]]) -> str:
    """A sum of products over their common denominator: of (7/2, "e") and (-1, "") it is `(7e - 2)/2`."""
    below = lcm(*(factor.denominator for factor, _ in terms))
    text = total([(int(Fraction(factor) * below), letters) for factor, letters in terms])
    return text if below == 1 else f"({text})/{below}"


def polynomial(coefficients: Sequence[Number], letter: str = "x") -> str:
    """A polynomial, highest power first, from its coefficients, lowest first: `[1, 0, -3]` is `-3x^2 + 1`."""
    powers = ["", letter, *(f"{letter}^{power}" for power in range(2, len(coefficients)))]
    return total(list(zip(coefficients, powers, strict=False))[::-1])


def value(coefficients: Sequence[N], x: N) -> N:
    """The value of a polynomial at `x`, by Horner's rule."""
    *others, result = coefficients
    for coefficient in reversed(others):
        result = result * x + coefficient
    return result


def product(first: Sequence[N], second: Sequence[N]) -> list[N]:
    """The coefficients of a product of polynomials."""
    result = [first[0] * 0] * (len(first) + len(second) - 1)
    for low, one in enumerate(first):
        for high, other in enumerate(second):
            result[low + high] += one * other
    return result


def derivative(coefficients: Sequence[N]) -> list[N]:
    """The coefficients of the derivative."""
    return [power * coefficient for power, coefficient in enumerate(coefficients)][1:] or [coefficients[0] * 0]


def antiderivative(coefficients: Sequence[Fraction]) -> list[Fraction]:
    """The coefficients of the antiderivative that is 0 at 0."""
    raised = [coefficient / power for power, coefficient in enumerate(coefficients, 1)]
    return [coefficients[0] * 0, *raised]


def area_below(coefficients: Sequence[Fraction], start: Fraction, end: Fraction) -> Fraction:
    """The integral of a polynomial from `start` to `end`."""
    raised = antiderivative(coefficients)
    return value(raised, end) - value(raised, start)


def nonzero(rng: random.Random, most: int) -> int:
    """An integer from -most to most, but not 0."""
    return rng.choice((-1, 1)) * rng.randint(1, most)


def draw_polynomial(rng: random.Random, degree: int, most: int) -> list[int]:
    """Random coefficients up to `most` in size; that of the highest power is not 0, and there are two terms or more."""
    coefficients = [rng.randint(-most, most) for _ in range(degree)]
    if not any(coefficients):
        coefficients[rng.randrange(degree)] = nonzero(rng, most)
    return [*coefficients, nonzero(rng, most)]
