"""Calculus: derivatives, integrals, limits, series, and the identities between them."""

import random
from fractions import Fraction
from math import comb, factorial
from typing import ClassVar

from gem_envs_math.notation import (
    area_below,
    derivative,
    draw_polynomial,
    nonzero,
    polynomial,
    product,
    total,
    value,
    written,
)
from gem_envs_math.problem import Levels, Problem, ProblemEnv, expression, in_order, integer, number, numbers


def slope(rng: random.Random, level: int) -> Problem:
    """The derivative of a quadratic at a point."""
    p, x = [rng.randint(0, 9), rng.randint(1, 9), rng.randint(1, 5)], rng.randint(0, 5)
    answer = int(value(derivative(p), x))
    return integer(f"What is f'({x}) for f(x) = {polynomial(p)}?", answer)


def speed(rng: random.Random, level: int) -> Problem:
    """A speed as a derivative."""
    p, t = [0, rng.randint(1, 9), rng.randint(1, 5)], rng.randint(1, 5)
    question = (
        f"After t seconds a ball is {polynomial(p, 't')} metres away. How fast is it at t = {t}, in metres per second?"
    )
    return integer(question, int(value(derivative(p), t)))


def power_rule(rng: random.Random, level: int) -> Problem:
    """The derivative of a power."""
    a, n = rng.randint(1, 9), rng.randint(2, 6)
    before, after = polynomial([0] * n + [a]), polynomial([0] * (n - 1) + [1])
    return integer(f"The derivative of {before} is k{after}. What is k?", a * n)


def second_derivative(rng: random.Random, level: int) -> Problem:
    """The second derivative of a cubic at a point."""
    p = [rng.randint(0, 9), rng.randint(0, 9), rng.randint(1, 5), rng.randint(0, 2)]
    while not p[-1]:
        p.pop()
    x = rng.randint(0, 3)
    return integer(f"What is f''({x}) for f(x) = {polynomial(p)}?", int(value(derivative(derivative(p)), x)))


def vertex(rng: random.Random, level: int) -> Problem:
    """The extreme of a parabola."""
    x, a, c = nonzero(rng, 9), rng.choice((-2, -1, 1, 2)), rng.randint(-9, 9)
    most = "smallest" if a > 0 else "largest"
    return integer(f"For which x is {polynomial([c, -2 * a * x, a])} {most}?", x)


def simple_integral(rng: random.Random, level: int) -> Problem:
    """The integral of a linear function from 0."""
    p, end = [rng.randint(1, 9), 2 * rng.randint(0, 3)], rng.randint(1, 5)
    while not p[-1]:
        p.pop()
    question = f"What is the integral of {polynomial(p)} from x = 0 to x = {end}?"
    return integer(question, int(area_below(p, 0, end)))


def derivative_of_polynomial(rng: random.Random, level: int) -> Problem:
    """A derivative, as a polynomial."""
    p = draw_polynomial(rng, rng.randint(2, 4), 9)
    return expression(f"What is the derivative of {polynomial(p)}?", polynomial(derivative(p)))


def definite_integral(rng: random.Random, level: int) -> Problem:
    """The integral of a polynomial."""
    p, start = draw_polynomial(rng, rng.randint(1, 3), 9), rng.randint(-3, 2)
    end = start + rng.randint(1, 4)
    question = f"What is the integral of {polynomial(p)} from x = {start} to x = {end}?"
    return number(question, area_below(p, start, end))


def cancelled_limit(rng: random.Random, level: int) -> Problem:
    """A limit of the form 0/0."""
    a = rng.randint(-6, 6)
    top, bottom = [nonzero(rng, 9), nonzero(rng, 3)], [nonzero(rng, 9), 1]
    while not value(bottom, a):
        bottom = [nonzero(rng, 9), 1]
    over, under = polynomial(product(top, [-a, 1])), polynomial(product(bottom, [-a, 1]))
    question = f"What is the limit of ({over})/({under}) as x goes to {a}?"
    return number(question, Fraction(value(top, a)) / value(bottom, a))


def chain_rule(rng: random.Random, level: int) -> Problem:
    """The derivative of a power of a polynomial at a point."""
    inner, n, x = draw_polynomial(rng, level, 4), rng.randint(2, 4), rng.randint(-2, 2)
    answer = n * value(inner, x) ** (n - 1) * value(derivative(inner), x)
    return integer(f"What is f'({x}) for f(x) = ({polynomial(inner)})^{n}?", int(answer))


def rules_of_derivatives(rng: random.Random, level: int) -> Problem:
    """The rules for products, quotients and powers, of functions of which only values are known."""
    a, f, df, g, dg = rng.randint(0, 3), *(nonzero(rng, 9) for _ in range(4))
    known = f"f({a}) = {f}, f'({a}) = {df}, g({a}) = {g} and g'({a}) = {dg}"
    what, answer = rng.choice(
        (
            ("f(x)g(x)", Fraction(df * g + f * dg)),
            ("f(x)/g(x)", Fraction(df * g - f * dg, g * g)),
            ("f(x)^2 g(x)", Fraction(2 * f * df * g + f * f * dg)),
            ("1/f(x)", Fraction(-df, f * f)),
            ("x f(x)", Fraction(f + a * df)),
        )
    )
    return number(f"Let {known}. What is the derivative of {what} at x = {a}?", answer)


def extremes(rng: random.Random, level: int) -> Problem:
    """The local extremes of a cubic."""
    p, q = rng.sample(range(-6, 7), 2)
    # The derivative of 2x^3 - 3(p + q)x^2 + 6pqx is 6(x - p)(x - q).
    cubic = polynomial([rng.randint(-9, 9), 6 * p * q, -3 * (p + q), 2])
    return numbers(f"For which x does {cubic} have a local maximum or minimum?", sorted((p, q)))


def area_between(rng: random.Random, level: int) -> Problem:
    """The area between a parabola and a line."""
    a, (p, q) = rng.choice((-3, -2, -1, 1, 2, 3)), sorted(rng.sample(range(-4, 5), 2))
    line = [rng.randint(-9, 9), rng.randint(-4, 4)]
    difference = product([a * -p, a], [-q, 1])
    parabola = [difference[0] + line[0], difference[1] + line[1], difference[2]]
    question = f"What is the area between the curves y = {polynomial(parabola)} and y = {polynomial(line)}?"
    return number(question, abs(area_below(difference, p, q)))


def tangent(rng: random.Random, level: int) -> Problem:
    """The tangent of a polynomial."""
    p, x = draw_polynomial(rng, rng.randint(2, 3), 6), rng.randint(-3, 3)
    m = value(derivative(p), x)
    return in_order(
        f"The tangent to y = {polynomial(p)} at x = {x} is y = mx + n. Give m and n, in this order.",
        [m, value(p, x) - m * x],
    )


def linearity(rng: random.Random, level: int) -> Problem:
    """Integrals of parts and of multiples."""
    a, b, c = sorted(rng.sample(range(-5, 10), 3))
    first, second, k, m = nonzero(rng, 12), nonzero(rng, 12), nonzero(rng, 5), nonzero(rng, 5)
    return integer(
        f"The integral of f from {a} to {b} is {first}, and from {b} to {c} it is {second}. What is the integral of "
        f"{total([(k, 'f(x)'), (m, '')])} from {a} to {c}?",
        k * (first + second) + m * (c - a),
    )


def fundamental_theorem(rng: random.Random, level: int) -> Problem:
    """The derivative of an integral with a variable end; both ends vary at the hard level."""
    p, x = draw_polynomial(rng, 2, 6), nonzero(rng, 3)
    if level == 1:
        question = f"Let F(x) be the integral of {polynomial(p, 't')} from t = 0 to t = x. What is F'({x})?"
        return integer(question, int(value(p, x)))
    low, high = [rng.randint(-3, 3), nonzero(rng, 3)], [rng.randint(-3, 3), 0, nonzero(rng, 2)]
    ends = f"from t = {polynomial(low)} to t = {polynomial(high)}"
    answer = value(p, value(high, x)) * value(derivative(high), x) - value(p, value(low, x)) * low[1]
    return integer(f"Let F(x) be the integral of {polynomial(p, 't')} {ends}. What is F'({x})?", int(answer))


def improper(rng: random.Random, level: int) -> Problem:
    """Euler's integral of x^n e^(-kx)."""
    n, k, c = rng.randint(1, 5), rng.randint(2, 5), rng.randint(1, 9)
    power = polynomial([0] * n + [c])
    question = f"What is the integral of {power} e^(-{k}x) from x = 0 to infinity?"
    return number(question, Fraction(c * factorial(n), k ** (n + 1)))


def by_parts(rng: random.Random, level: int) -> Problem:
    """The integral of (a x + b) e^x from 0 to 1."""
    a, b = nonzero(rng, 9), nonzero(rng, 9)
    return expression(
        f"What is the integral of ({polynomial([b, a])}) e^x from x = 0 to x = 1? Give the exact value.",
        total([(b, "e"), (a - b, "")]),
    )


def logarithmic(rng: random.Random, level: int) -> Problem:
    """The integral of c/(x + s)."""
    start, c, s = rng.randint(1, 4), nonzero(rng, 6), rng.randint(0, 3)
    ratio = rng.choice((2, 3, 5, 7))
    end = (start + s) * ratio - s
    shown = f"{c}/({total([(1, 'x'), (s, '')])})"
    question = f"What is the integral of {shown} from x = {start} to x = {end}? Give the exact value."
    return expression(question, total([(c, f"\\ln {ratio}")]))


def over_a_period(rng: random.Random, level: int) -> Problem:
    """The integral of squares of sine and cosine over half periods."""
    a, b, n, halves = nonzero(rng, 9), nonzero(rng, 6), rng.randint(1, 4), rng.randint(1, 3)
    square = rng.choice(("sin", "cos"))
    times = (Fraction(a, 2) + b) * halves
    end = "pi" if halves == 1 else f"{halves}pi"
    angle = "x" if n == 1 else f"{n}x"
    shown = total([(a, f"{square}({angle})^2"), (b, "")])
    question = f"What is the integral of {shown} from x = 0 to x = {end}? Give the exact value."
    answer = total([(times.numerator, "\\pi")])
    return expression(question, answer if times.denominator == 1 else f"{answer}/{times.denominator}")


def odd_and_even(rng: random.Random, level: int) -> Problem:
    """An integral over a symmetric interval, where odd powers vanish."""
    p, end = draw_polynomial(rng, 5, 9), rng.randint(1, 4)
    question = f"What is the integral of {polynomial(p)} from x = -{end} to x = {end}?"
    return number(question, area_below(p, -end, end))


def taylor_limit(rng: random.Random, level: int) -> Problem:
    """Limits that follow from Taylor series."""
    a, b = nonzero(rng, 6), rng.randint(1, 5)
    x = total([(a, "x")])
    what, answer = rng.choice(
        (
            (f"sin({x})/({b}x)", Fraction(a, b)),
            (f"(1 - cos({x}))/({b}x^2)", Fraction(a * a, 2 * b)),
            (f"(e^({x}) - 1 - ({x}))/({b}x^2)", Fraction(a * a, 2 * b)),
            (f"(sin({x}) - ({x}))/({b}x^3)", Fraction(-(a**3), 6 * b)),
            (f"ln(1 + ({x}))/({b}x)", Fraction(a, b)),
            (f"(sqrt(1 + ({x})) - 1)/({b}x)", Fraction(a, 2 * b)),
        )
    )
    return number(f"What is the limit of {what} as x goes to 0?", answer)


def taylor_coefficient(rng: random.Random, level: int) -> Problem:
    """A coefficient of the series of e^(ax)/(1 - bx)."""
    a, b, n = nonzero(rng, 3), nonzero(rng, 3), rng.randint(2, 4)
    answer = sum((Fraction(a**k, factorial(k)) * b ** (n - k) for k in range(n + 1)), Fraction(0))
    below = total([(1, ""), (-b, "x")])
    return number(
        f"What is the coefficient of x^{n} in the Taylor series of e^({total([(a, 'x')])})/({below}) at 0?", answer
    )


def implicit(rng: random.Random, level: int) -> Problem:
    """The slope of a curve a x^2 + b x y + c y^2 = d at a point."""
    while True:
        a, b, c = nonzero(rng, 5), nonzero(rng, 5), nonzero(rng, 5)
        x, y = nonzero(rng, 4), nonzero(rng, 4)
        if b * x + 2 * c * y:
            break
    curve = f"{total([(a, 'x^2'), (b, 'xy'), (c, 'y^2')])} = {a * x * x + b * x * y + c * y * y}"
    return number(
        f"What is the slope dy/dx of the curve {curve} at ({x}, {y})?",
        Fraction(-(2 * a * x + b * y), b * x + 2 * c * y),
    )


def infinite_series(rng: random.Random, level: int) -> Problem:
    """Geometric series, their derivatives, and telescoping sums."""
    below = rng.randint(2, 7)
    above = rng.choice([k for k in range(1 - below, below) if k])
    r, k, c = Fraction(above, below), rng.randint(1, 4), rng.randint(1, 9)
    ratio = f"({written(r)})^n"
    what, answer = rng.choice(
        (
            (f"{c} * {ratio}", c * r / (1 - r)),
            (f"{total([(c, 'n')])} * {ratio}", c * r / (1 - r) ** 2),
            (f"{c}/(n(n + {k}))", Fraction(c, k) * sum(Fraction(1, i) for i in range(1, k + 1))),
        )
    )
    return number(f"What is the sum of {what} over all integers n from 1 to infinity?", answer)


def optimum(rng: random.Random, level: int) -> Problem:
    """Smallest and largest values."""
    a, b = rng.randint(1, 9), rng.randint(1, 9)
    kind = rng.randrange(3)
    if kind == 0:
        # The sum is least where its terms are equal, because their product is constant.
        question = f"What is the smallest value of {total([(a, 'x')])} + {a * b * b}/x for x > 0?"
        return number(question, 2 * a * b)
    if kind == 1:
        question = f"A fence of {2 * a + b} metres encloses three sides of a rectangle. What is its largest area?"
        return number(question, Fraction((2 * a + b) ** 2, 8))
    start, side = rng.randint(1, 3), rng.randint(4, 9)
    p = [rng.randint(-9, 9), 0, -3 * start, 2]
    values = [value(p, x) for x in (-side, 0, start, side)]
    which, choose = rng.choice((("smallest", min), ("largest", max)))
    return number(f"What is the {which} value of {polynomial(p)} for x from {-side} to {side}?", choose(values))


def higher_derivative(rng: random.Random, level: int) -> Problem:
    """The n-th derivative of (x + b) e^(ax) at 0, by Leibniz's rule."""
    a, b, n = nonzero(rng, 3), nonzero(rng, 9), rng.randint(3, 7)
    return integer(
        f"What is the derivative of order {n} of ({total([(1, 'x'), (b, '')])}) e^({total([(a, 'x')])}) at x = 0?",
        b * a**n + comb(n, 1) * a ** (n - 1),
    )


class Calculus(ProblemEnv):
    r"""Derivatives, integrals, limits, series, and the identities between them.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (slope, speed, power_rule, second_derivative, vertex, simple_integral),
        "medium": (
            derivative_of_polynomial, definite_integral, cancelled_limit, chain_rule, rules_of_derivatives, extremes,
            area_between, tangent, linearity, fundamental_theorem,
        ),
        "hard": (
            chain_rule, fundamental_theorem, improper, by_parts, logarithmic, over_a_period, odd_and_even, taylor_limit,
            taylor_coefficient, implicit, infinite_series, optimum, higher_derivative,
        ),
    }  # fmt: skip
