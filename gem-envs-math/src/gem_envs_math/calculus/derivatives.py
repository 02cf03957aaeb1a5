"""Problems about derivatives, extremes, and rates."""

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gem_envs_math.counted import counted, like, root, steps_of
from gem_envs_math.notation import derivative, draw_polynomial, nonzero, polynomial, product, total, value
from gem_envs_math.problem import Problem, expression, in_order, integer, number, numbers

TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (9, 12, 15), (12, 16, 20))


def slope(rng: random.Random, level: int) -> Problem:
    """The derivative of a quadratic at a point."""
    p, x = [nonzero(rng, 9), nonzero(rng, 9), rng.randint(2, 7)], rng.choice([x for x in range(-9, 10) if abs(x) > 1])
    *q, at = counted(*p, x)
    return integer(f"What is f'({x}) for f(x) = {polynomial(p)}?", value(derivative(q), at))


def highest(rng: random.Random, level: int) -> Problem:
    """The height of a throw."""
    c, b, a = counted(rng.randint(1, 30), 10 * rng.randint(1, 8), 5)
    time = b / (2 * a)
    return integer(
        f"A ball that is thrown upwards is {c} + {b}t - {a}t^2 metres high after t seconds. How many metres high does "
        "it get?",
        (b - a * time) * time + c,
    )


def chain_power(rng: random.Random, level: int) -> Problem:
    """The derivative of a power of a linear function."""
    a, x, inner, n = rng.choice((-5, -4, -3, -2, 2, 3, 4, 5)), nonzero(rng, 6), nonzero(rng, 6), rng.randint(2, 3)
    p, q, at = counted(a, inner - a * x, x)
    return integer(f"What is f'({x}) for f(x) = ({polynomial([q, p])})^{n}?", n * p * (p * at + q) ** (n - 1))


def second_derivative(rng: random.Random, level: int) -> Problem:
    """The second derivative of a cubic at a point."""
    p = [nonzero(rng, 9), nonzero(rng, 9), nonzero(rng, 6), rng.randint(1, 4)]
    *q, at = counted(*p, nonzero(rng, 6))
    return integer(f"What is f''({at}) for f(x) = {polynomial(p)}?", value(derivative(derivative(q)), at))


def known_values(rng: random.Random, level: int) -> Problem:
    """The rules for derivatives, of functions of which only values are known; harder rules at the medium level."""
    a, *drawn = rng.randint(2, 9), *(nonzero(rng, 9) for _ in range(4))
    at, f, df, g, dg = counted(a, *drawn)
    if level == 0:
        rules: list[tuple[str, Any]] = [
            ("x f(x)", lambda: f + at * df),
            ("f(x)^2", lambda: 2 * f * df),
            ("f(x)g(x)", lambda: df * g + f * dg),
            (f"{a}f(x) - x^2", lambda: at * df - 2 * at),
        ]
    else:
        rules = [
            ("f(x)/g(x)", lambda: (df * g - f * dg) / (g * g)),
            ("f(x)^2 g(x)", lambda: 2 * f * df * g + f * f * dg),
            ("x f(x)/g(x)", lambda: ((f + at * df) * g - at * f * dg) / (g * g)),
            ("x^2 f(x)g(x)", lambda: 2 * at * f * g + at * at * (df * g + f * dg)),
        ]
    what, answer = rng.choice(rules)
    known = f"f({a}) = {f} and f'({a}) = {df}"
    if "g(" in what:
        known = f"f({a}) = {f}, f'({a}) = {df}, g({a}) = {g} and g'({a}) = {dg}"
    question = f"Let {known}. What is the derivative of {what} at x = {a}?"
    return integer(question, answer()) if level == 0 else number(question, answer())


def derivative_of_product(rng: random.Random, level: int) -> Problem:
    """The derivative of a product of polynomials, as a polynomial."""
    first, second = [nonzero(rng, 9), nonzero(rng, 5)], [nonzero(rng, 9), rng.randint(-5, 5), nonzero(rng, 5)]
    factors = counted(*first, *second)
    found = derivative(product(factors[:2], factors[2:]))
    shown = f"({polynomial(first)})({polynomial(second)})"
    question = f"What is the derivative of {shown}? Multiply it out."
    return expression(question, polynomial(found), steps_of(found[-1]))


def chain_rule(rng: random.Random, level: int) -> Problem:
    """The derivative of a power of a quadratic at a point; times another function at the hard level."""
    while True:
        inner, n, x = [nonzero(rng, 6), rng.randint(-5, 5), nonzero(rng, 3)], rng.randint(2, 4), nonzero(rng, 3)
        if 1 < abs(value(inner, x)) < 7:
            break
    other = [nonzero(rng, 9), nonzero(rng, 5)]
    *flat, at = counted(*inner, *other, x)
    p, q = flat[:3], flat[3:]
    base = value(p, at)
    change = n * base ** (n - 1) * value(derivative(p), at)
    shown = f"({polynomial(inner)})^{n}"
    if level == 1:
        return integer(f"What is f'({x}) for f(x) = {shown}?", change)
    answer = change * value(q, at) + base**n * q[1]
    return integer(f"What is f'({x}) for f(x) = {shown} ({polynomial(other)})?", answer)


def _critical(p: Sequence[Fraction]) -> list[Fraction]:
    """The zeros of the derivative of a cubic, which are rational."""
    c, b, a = derivative(p)
    side = root(b * b - 4 * a * c) or Fraction(0)
    return [(-b - side) / (2 * a), (-b + side) / (2 * a)]


def extremes(rng: random.Random, level: int) -> Problem:
    """Where a cubic has its local extremes; at the hard level its extreme value on an interval, with its ends."""
    p, q = rng.sample(range(-6, 7), 2)
    # The derivative of 2x^3 - 3(p + q)x^2 + 6pqx is 6(x - p)(x - q).
    cubic = counted(nonzero(rng, 9), 6 * p * q, -3 * (p + q), 2)
    places = _critical(cubic)
    if level == 1:
        return numbers(f"For which x does {polynomial(cubic)} have a local maximum or minimum?", places)
    start, end = sorted(rng.sample(range(-8, 9), 2))
    values = [value(cubic, like(x, cubic[0])) for x in (start, end)]
    values += [value(cubic, x) for x in places if start < Fraction(x) < end]
    which, choose = rng.choice((("smallest", min), ("largest", max)))
    question = f"What is the {which} value of {polynomial(cubic)} for x from {start} to {end}?"
    return integer(question, choose(values))


def tangent(rng: random.Random, level: int) -> Problem:
    """The tangent of a polynomial."""
    p, x = draw_polynomial(rng, rng.randint(2, 3), 6), rng.choice((-3, -2, -1, 1, 2, 3))
    *q, at = counted(*p, x)
    m = value(derivative(q), at)
    return in_order(
        f"The tangent to y = {polynomial(p)} at x = {x} is y = mx + n. Give m and n, in this order.",
        [m, value(q, at) - m * at],
    )


def cancelled_limit(rng: random.Random, level: int) -> Problem:
    """A limit of the form 0/0, by de l'Hospital's rule."""
    a = rng.choice((-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6))
    while True:
        top, bottom = [nonzero(rng, 9), nonzero(rng, 4)], [nonzero(rng, 9), nonzero(rng, 2)]
        if value(bottom, a):
            break
    over, under = product(top, [-a, 1]), product(bottom, [-a, 1])
    flat = counted(*over, *under, a)
    answer = value(derivative(flat[:3]), flat[-1]) / value(derivative(flat[3:6]), flat[-1])
    return number(f"What is the limit of ({polynomial(over)})/({polynomial(under)}) as x goes to {a}?", answer)


def tangent_of_curve(rng: random.Random, level: int) -> Problem:
    """Where the tangent of a curve a x^2 + b x y + c y^2 = d meets the x-axis: implicit differentiation."""
    while True:
        a, b, c = nonzero(rng, 5), nonzero(rng, 5), nonzero(rng, 5)
        x, y = nonzero(rng, 4), nonzero(rng, 4)
        if b * x + 2 * c * y and 2 * a * x + b * y:
            break
    curve = f"{total([(a, 'x^2'), (b, 'xy'), (c, 'y^2')])} = {a * x * x + b * x * y + c * y * y}"
    p, q, r, u, v = counted(a, b, c, x, y)
    return number(
        f"The tangent to the curve {curve} at the point ({x}, {y}) meets the x-axis. At which x?",
        u + v * (q * u + 2 * r * v) / (2 * p * u + q * v),
    )


def least_on_interval(rng: random.Random, level: int) -> Problem:
    """The extreme value of a x + b/x on an interval, in which the zero of the derivative need not lie."""
    a, middle, start = rng.randint(1, 9), rng.randint(2, 8), rng.randint(1, 9)
    p, q, low, high = counted(a, a * middle**2, start, start + rng.randint(2, 9))
    places = [low, high]
    place = root(q / p) or Fraction(0)
    places += [place] * (low < place < high)
    which, choose = rng.choice((("smallest", min), ("largest", max)))
    shown = f"{total([(a, 'x')])} + {q}/x"
    answer = choose([p * x + q / x for x in places])
    return number(f"What is the {which} value of {shown} for x from {low} to {high}?", answer)


def higher_derivative(rng: random.Random, level: int) -> Problem:
    """The n-th derivative of (x^2 + b x + c) e^(ax) at 0, by Leibniz's rule."""
    a, b, c, n = rng.choice((-3, -2, 2, 3)), nonzero(rng, 9), nonzero(rng, 9), rng.randint(3, 7)
    p, q, r, k = counted(a, b, c, n)
    return integer(
        f"What is the derivative of order {n} of ({polynomial([c, b, 1])}) e^({a}x) at x = 0?",
        r * p**n + k * q * p ** (n - 1) + k * (k - 1) * p ** (n - 2),
    )


def ladder(rng: random.Random, level: int) -> Problem:
    """A related rate."""
    foot, top, length = rng.choice(TRIPLES)
    if rng.random() < 0.5:
        foot, top = top, foot
    size = rng.randint(1, 3)
    long, far, speed = counted(length * size, foot * size, rng.randint(2, 30))
    height = root(long * long - far * far) or Fraction(0)
    return number(
        f"A ladder of {long} decimetres leans against a wall. Its foot is pulled away from the wall by {speed} "
        f"decimetres a minute. How many decimetres a minute does its top slide down when the foot is {far} decimetres "
        "from the wall?",
        speed * far / height,
    )


def newton(rng: random.Random, level: int) -> Problem:
    """A step of Newton's method."""
    while True:
        p, x = [nonzero(rng, 9), rng.randint(-5, 5), nonzero(rng, 5), nonzero(rng, 3)], nonzero(rng, 3)
        if value(derivative(p), x):
            break
    *q, at = counted(*p, x)
    return number(
        f"Newton's method for a zero of {polynomial(p)} starts at x = {x}. What is the next x?",
        at - value(q, at) / value(derivative(q), at),
    )
