"""Problems about limits and series."""

import random
from fractions import Fraction

from gem_envs_math.counted import counted, factorial, like
from gem_envs_math.notation import nonzero, total
from gem_envs_math.problem import Problem, number


def taylor_limit(rng: random.Random, level: int) -> Problem:
    """Limits that take the Taylor series of two functions, up to the terms that do not cancel."""
    first, second = rng.sample(range(1, 10), 2)
    a, b, c = counted(first, second, rng.randint(1, 6))
    x, y, z = (total([(factor, "x")]) for factor in (first, second, first - second))
    what, answer = rng.choice(
        (
            (f"(sin({x}) - {x} cos({y}))/({total([(c, 'x^3')])})", lambda: (a * b**2 / 2 - a**3 / 6) / c),
            (f"(cos({x}) - cos({y}))/({total([(c, 'x^2')])})", lambda: (b**2 - a**2) / (2 * c)),
            (
                f"(e^({x}) - ln(1 + {y}) - cos(x) - ({z}))/({total([(c, 'x^2')])})",
                lambda: (a**2 + b**2 + 1) / (2 * c),
            ),
            (f"(e^({x}) - 1 - sin({x}))/({total([(c, 'x')])} sin({y}))", lambda: a**2 / 2 / (c * b)),
        )
    )
    return number(f"What is the limit of {what} as x goes to 0?", answer())


def taylor_coefficient(rng: random.Random, level: int) -> Problem:
    """A coefficient of the series of e^(ax)/(1 - bx): the product of two series."""
    n = rng.randint(3, 5)
    a, b = counted(nonzero(rng, 4), nonzero(rng, 4))
    answer = sum(a**k / factorial(like(k, a)) * b ** (n - k) for k in range(n + 1))
    below = total([(1, ""), (-b, "x")])
    return number(
        f"What is the coefficient of x^{n} in the Taylor series of e^({total([(a, 'x')])})/({below}) at 0?", answer
    )


def infinite_series(rng: random.Random, level: int) -> Problem:
    """Geometric series, their derivatives, and telescoping sums."""
    below = rng.randint(2, 7)
    above = rng.choice([k for k in range(1 - below, below) if k])
    r, c, d, k, m = counted(
        Fraction(above, below), nonzero(rng, 9), nonzero(rng, 9), rng.randint(2, 4), rng.randint(1, 4)
    )
    what, answer = rng.choice(
        (
            (f"({total([(c, 'n'), (d, '')])}) * ({r})^n", lambda: c * r / (1 - r) ** 2 + d * r / (1 - r)),
            (f"({total([(c, 'n^2')])}) * ({r})^n", lambda: c * r * (1 + r) / (1 - r) ** 3),
            (
                f"{abs(c)}/((n + {int(m) - 1})(n + {int(m + k) - 1}))",
                lambda: abs(c) / k * sum(1 / (m + i) for i in range(int(k))),
            ),
        )
    )
    return number(f"What is the sum of {what} over all integers n from 1 to infinity?", answer())
