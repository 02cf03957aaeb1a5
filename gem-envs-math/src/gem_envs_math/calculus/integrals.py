"""Problems about integrals: areas, volumes, and the fundamental theorem."""

import random

from gem_envs_math.counted import counted, steps_of
from gem_envs_math.notation import (
    antiderivative,
    area_below,
    derivative,
    draw_polynomial,
    nonzero,
    polynomial,
    product,
    quotient,
    term,
    total,
    value,
)
from gem_envs_math.problem import Problem, expression, integer, number


def simple_integral(rng: random.Random, level: int) -> Problem:
    """The integral of a linear function from 0, or of a square."""
    end = rng.randint(2, 9)
    p = rng.choice(([nonzero(rng, 20), 2 * rng.randint(1, 9)], [nonzero(rng, 20), 0, 3 * rng.randint(1, 5)]))
    *q, at = counted(*p, end)
    question = f"What is the integral of {polynomial(p)} from x = 0 to x = {end}?"
    return integer(question, value(antiderivative(q), at))


def definite_integral(rng: random.Random, level: int) -> Problem:
    """The integral of a polynomial."""
    p, start = draw_polynomial(rng, rng.randint(1, 2), 9), rng.choice((-3, -2, -1, 1, 2))
    *q, low, high = counted(*p, start, start + rng.randint(2, 5))
    return number(f"What is the integral of {polynomial(p)} from x = {low} to x = {high}?", area_below(q, low, high))


def area_between(rng: random.Random, level: int) -> Problem:
    """The area between a parabola and a line: first where they meet, then the integral of their difference."""
    a, (p, q) = rng.choice((-3, -2, -1, 1, 2, 3)), sorted(rng.sample(range(-4, 5), 2))
    line = [rng.randint(-9, 9), nonzero(rng, 4)]
    difference = product([a * -p, a], [-q, 1])
    parabola = [difference[0] + line[0], difference[1] + line[1], difference[2]]
    *flat, low, high = counted(*parabola, *line, p, q)
    between = [flat[0] - flat[3], flat[1] - flat[4], flat[2]]
    question = f"What is the area between the curves y = {polynomial(parabola)} and y = {polynomial(line)}?"
    return number(question, abs(area_below(between, low, high)))


def linearity(rng: random.Random, level: int) -> Problem:
    """Integrals of parts and of multiples."""
    a, b, c = sorted(rng.sample(range(-5, 10), 3))
    first, second, k, m, low, high = counted(*(nonzero(rng, 12) for _ in range(4)), a, c)
    return integer(
        f"The integral of f from {a} to {b} is {first}, and from {b} to {c} it is {second}. What is the integral of "
        f"{total([(k, 'f(x)'), (m, '')])} from {a} to {c}?",
        k * (first + second) + m * (high - low),
    )


def fundamental_theorem(rng: random.Random, level: int) -> Problem:
    """The derivative of an integral whose end varies; both ends do at the hard level."""
    p, x = [nonzero(rng, 6), rng.randint(-6, 6), nonzero(rng, 4)], rng.choice((-3, -2, -1, 1, 2, 3))
    low = [rng.randint(-5, 5)] if level == 1 else [rng.randint(-3, 3), nonzero(rng, 3)]
    high = [rng.randint(-3, 3), nonzero(rng, 4)] if level == 1 else [rng.randint(-3, 3), 0, nonzero(rng, 2)]
    flat = counted(*p, *low, *high, x)
    q, start, end, at = flat[:3], flat[3 : 3 + len(low)], flat[3 + len(low) : -1], flat[-1]
    ends = f"from t = {polynomial(low)} to t = {polynomial(high)}"
    answer = value(q, value(end, at)) * value(derivative(end), at)
    if level == 2:
        answer -= value(q, value(start, at)) * start[1]
    return integer(f"Let F(x) be the integral of {polynomial(p, 't')} {ends}. What is F'({x})?", answer)


def improper(rng: random.Random, level: int) -> Problem:
    """Euler's integrals of x^n e^(-kx), added."""
    c, b, a, k = counted(nonzero(rng, 9), nonzero(rng, 9), nonzero(rng, 9), rng.randint(2, 5))
    question = f"What is the integral of ({polynomial([c, b, a])}) e^(-{k}x) from x = 0 to infinity?"
    return number(question, c / k + b / k**2 + 2 * a / k**3)


def by_parts(rng: random.Random, level: int) -> Problem:
    """The integral of a quadratic times e^(kx) from 0 to 1: by parts, twice."""
    rate = rng.choice((-2, -1, 1, 2))
    while True:
        p = [nonzero(rng, 9), nonzero(rng, 9), nonzero(rng, 6)]
        c, b, a, k = counted(*p, rate)
        # The antiderivative is (q + r x + s x^2) e^(kx).
        s = a / k
        r = (b - 2 * s) / k
        q = (c - r) / k
        if (last := q + r + s) and q:
            break
    power = {-2: "e^{-2}", -1: "e^{-1}", 1: "e", 2: "e^2"}[rate]
    shown = f"({polynomial(p)}) e^({total([(rate, 'x')])})"
    question = f"What is the integral of {shown} from x = 0 to x = 1? Give the exact value."
    return expression(question, quotient([(last, power), (-q, "")]), steps_of(last))


def partial_fractions(rng: random.Random, level: int) -> Problem:
    """The integral of (p x + q)/((x + a)(x + b))."""
    a, b = sorted(rng.sample(range(-2, 7), 2))
    first, second, start = nonzero(rng, 6), nonzero(rng, 6), rng.randint(1, 4) - min(a, 0)
    p, q, u, v, low, high = counted(first + second, first * b + second * a, a, b, start, start + rng.randint(1, 5))
    one, other = (q - p * u) / (v - u), (p * v - q) / (v - u)
    ratios = (high + u) / (low + u), (high + v) / (low + v)
    below = "".join(f"({total([(1, 'x'), (shift, '')])})" if shift else "x" for shift in (a, b))
    shown = f"({polynomial([q, p])})/({below})"
    return expression(
        f"What is the integral of {shown} from x = {low} to x = {high}? Give the exact value.",
        total([(one, f"\\ln({ratios[0]})"), (other, f"\\ln({ratios[1]})")]),
        steps_of(one),
    )


def over_a_period(rng: random.Random, level: int) -> Problem:
    """The integral of a square of sine, cosine and a constant over a period, in which the products vanish."""
    a, b, c = counted(*(nonzero(rng, 9) for _ in range(3)))
    sine, cosine = ("x" if n == 1 else f"{n}x" for n in (rng.randint(1, 5), rng.randint(1, 5)))
    times = a**2 + b**2 + 2 * c**2
    shown = f"({total([(a, f'sin({sine})'), (b, f'cos({cosine})'), (c, '')])})^2"
    question = f"What is the integral of {shown} from x = 0 to x = 2pi? Give the exact value."
    return expression(question, total([(times, "\\pi")]), steps_of(times))


def symmetric(rng: random.Random, level: int) -> Problem:
    """An integral over a symmetric interval, where what is odd vanishes."""
    p = [nonzero(rng, 9), nonzero(rng, 9), 3 * nonzero(rng, 3), rng.randint(-5, 5), nonzero(rng, 5)]
    end, rate = rng.randint(1, 4), rng.randint(2, 5)
    *q, at = counted(*p, end)
    even = [factor * (1 - power % 2) for power, factor in enumerate(q)]
    odd = rng.choice((f"x^3 cos({rate}x)", f"x^2 sin({rate}x)", f"x cos({rate}x)"))
    shown = f"{polynomial(p)} + {rng.randint(2, 9)}{odd}"
    question = f"What is the integral of {shown} from x = -{end} to x = {end}?"
    return number(question, 2 * value(antiderivative(even), at))


def volume(rng: random.Random, level: int) -> Problem:
    """The volume of a solid of revolution with a hole."""
    inner = [rng.randint(0, 3), rng.randint(1, 3)]
    outer = [inner[0] + rng.randint(1, 4), inner[1] + rng.randint(0, 2), rng.randint(0, 2)]
    *flat, end = counted(*outer, *inner, rng.randint(1, 3))
    f, g = flat[:3], flat[3:]
    difference = [one - other for one, other in zip(product(f, f), [*product(g, g), end * 0, end * 0], strict=True)]
    size = value(antiderivative(difference), end)
    curves = f"y = {polynomial(outer)} and y = {polynomial(inner)}"
    return expression(
        f"The region between the curves {curves} for x from 0 to {end} is rotated about the x-axis. What is the volume "
        "of the solid? Give the exact value.",
        quotient([(size, "\\pi")]),
        steps_of(size),
    )


def whole_area(rng: random.Random, level: int) -> Problem:
    """The area between a cubic and the x-axis, which lies on both of its sides."""
    roots, factor = sorted(rng.sample(range(-4, 5), 3)), nonzero(rng, 3)
    a, *zeros = counted(factor, *roots)
    one = a * 0 + 1
    p = product([-zeros[0] * a, a], product([-zeros[1], one], [-zeros[2], one]))
    left, right = area_below(p, zeros[0], zeros[1]), area_below(p, zeros[1], zeros[2])
    factors = "".join(f"({total([(1, 'x'), (-root, '')])})" if root else "x" for root in roots)
    shown = term(factor, factors)
    question = f"What is the area of the region that the curve y = {shown} and the x-axis enclose, in all?"
    return number(question, abs(left) + abs(right))
