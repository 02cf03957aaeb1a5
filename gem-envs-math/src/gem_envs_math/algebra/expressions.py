"""Problems about polynomials, functions, sequences and the roots of equations that are not solved."""

import random
from fractions import Fraction

from gem_envs_math.counted import choose, counted, root
from gem_envs_math.notation import draw_polynomial, nonzero, polynomial, product, total, value
from gem_envs_math.problem import Problem, in_order, integer, number


def evaluate(rng: random.Random, level: int) -> Problem:
    """The value of a quadratic."""
    p, x = [nonzero(rng, 9), nonzero(rng, 9), rng.randint(2, 5)], rng.choice((-6, -5, -4, -3, -2, 2, 3, 4, 5, 6))
    name, (*q, at) = polynomial(p), counted(*p, x)
    return integer(rng.choice((f"What is {name} for x = {x}?", f"Let f(x) = {name}. What is f({x})?")), value(q, at))


def brackets(rng: random.Random, level: int) -> Problem:
    """The constant of a sum of two products."""
    a, b, c, d = rng.randint(2, 9), nonzero(rng, 9), nonzero(rng, 9), nonzero(rng, 9)
    one, other = (f"({total([(1, 'x'), (shift, '')])})" for shift in (b, d))
    p, q, r, s = counted(a, b, c, d)
    return integer(f"If {total([(a, one), (c, other)])} is written as kx + n, what is n?", p * q + r * s)


def proportion(rng: random.Random, level: int) -> Problem:
    """The rule of three."""
    each, (few, many) = rng.randint(3, 19), rng.sample(range(2, 31), 2)
    n, price, m = counted(few, each * few, many)
    what, how = rng.choice((("pens", "cost"), ("tickets", "cost"), ("days of work", "earn"), ("stamps", "cost")))
    return integer(f"If {few} {what} {how} {price} coins, how many coins do {many} {what} {how}?", price / n * m)


def late_term(rng: random.Random, level: int) -> Problem:
    """A late term of an arithmetic sequence."""
    start, step, place = rng.randint(-20, 40), nonzero(rng, 12), rng.randint(9, 40)
    first, second, n = counted(start, start + step, place)
    shown = ", ".join(str(start + step * index) for index in range(3))
    question = f"An arithmetic sequence begins {shown}. What is term number {place}?"
    return integer(question, first + (n - 1) * (second - first))


def two_terms(rng: random.Random, level: int) -> Problem:
    """A term, or the sum of the first terms, of an arithmetic sequence of which two terms are given."""
    start, step = rng.randint(-30, 30), nonzero(rng, 12)
    i = rng.randint(2, 15)
    j = i + rng.randint(3, 12)
    n = j + rng.randint(5, 25)
    early, late, low, high, last = counted(start + i * step - step, start + j * step - step, i, j, n)
    shown = f"An arithmetic sequence has {early} as term number {i} and {late} as term number {j}."
    slope = (late - early) / (high - low)
    if rng.random() < 0.5:
        return integer(f"{shown} What is term number {n}?", late + (last - high) * slope)
    first = early - (low - 1) * slope
    return integer(f"{shown} What is the sum of its first {n} terms?", (2 * first + (last - 1) * slope) * last / 2)


def geometric_series(rng: random.Random, level: int) -> Problem:
    """The sum of the first terms of a geometric sequence of which two terms are given."""
    start, ratio, i, n = nonzero(rng, 9), rng.choice((-3, -2, 2, 3)), rng.randint(2, 4), rng.randint(5, 9)
    early, late = counted(start * ratio ** (i - 1), start * ratio ** (i + 2))
    r = root(late / early, 3) or Fraction(0)
    return integer(
        f"A geometric sequence of real numbers has {early} as term number {i} and {late} as term number {i + 3}. "
        f"What is the sum of its first {n} terms?",
        early / r ** (i - 1) * (r**n - 1) / (r - 1),
    )


def expansion(rng: random.Random, level: int) -> Problem:
    """A coefficient of a product of two polynomials."""
    first, second = [nonzero(rng, 6) for _ in range(4)], [nonzero(rng, 6) for _ in range(3)]
    power = rng.randint(2, 3)
    factors = counted(*first, *second)
    found = sum(factors[power - low] * factors[4 + low] for low in range(3))
    shown = f"({polynomial(first)})({polynomial(second)})"
    return integer(f"What is the coefficient of x^{power} in the expansion of {shown}?", found)


def two_binomials(rng: random.Random, level: int) -> Problem:
    """A coefficient of a product of powers of two binomials."""
    (a, b), (c, d) = ((rng.randint(1, 3), nonzero(rng, 4)) for _ in range(2))
    m, n = rng.randint(3, 6), rng.randint(2, 3)
    power = rng.randint(2, m + n - 2)
    p, q, r, s, k, j = counted(a, b, c, d, m, n)
    shown = f"({total([(a, 'x'), (b, '')])})^{m} ({total([(c, 'x'), (d, '')])})^{n}"
    found = sum(
        p**low * q ** (m - low) * choose(k, low) * r ** (power - low) * s ** (n - power + low) * choose(j, power - low)
        for low in range(max(0, power - n), min(m, power) + 1)
    )
    return integer(f"What is the coefficient of x^{power} in the expansion of {shown}?", found)


def composition(rng: random.Random, level: int) -> Problem:
    """f(g(x)) at a point."""
    f, g, x = [nonzero(rng, 9), nonzero(rng, 5), nonzero(rng, 3)], [nonzero(rng, 9), nonzero(rng, 5)], nonzero(rng, 5)
    *factors, at = counted(*f, *g, x)
    question = f"Let f(x) = {polynomial(f)} and g(x) = {polynomial(g)}. What is f(g({x}))?"
    return integer(question, value(factors[:3], value(factors[3:], at)))


def least_value(rng: random.Random, level: int) -> Problem:
    """The extreme value of a quadratic."""
    c, b, a = counted(nonzero(rng, 20), nonzero(rng, 12), nonzero(rng, 4))
    what = "smallest" if a > 0 else "largest"
    return number(f"What is the {what} value of {polynomial([c, b, a])} for real x?", c - b * b / (4 * a))


def remainder(rng: random.Random, level: int) -> Problem:
    """The remainder of a polynomial divided by (x - a)(x - b)."""
    p = draw_polynomial(rng, rng.randint(3, 5), 5)
    a, b = rng.sample([-3, -2, -1, 1, 2, 3], 2)
    divisor = polynomial(product([-a, 1], [-b, 1]))
    *q, first, second = counted(*p, a, b)
    high, low = value(q, first), value(q, second)
    slope = (high - low) / (first - second)
    return in_order(
        f"The remainder of {polynomial(p)} divided by {divisor} is mx + n. Give m and n, in this order.",
        [slope, high - slope * first],
    )


def root_symmetry(rng: random.Random, level: int) -> Problem:
    """A symmetric function of the roots of a quadratic, by Vieta's formulas; the roots may be complex."""
    b, c = counted(nonzero(rng, 12), nonzero(rng, 12))
    what, answer = rng.choice(
        (
            ("r^2 + s^2", lambda: b * b - 2 * c),
            ("(r - s)^2", lambda: b * b - 4 * c),
            ("r^3 + s^3", lambda: 3 * b * c - b**3),
            ("1/r^2 + 1/s^2", lambda: (b * b - 2 * c) / c**2),
            ("r/s + s/r", lambda: (b * b - 2 * c) / c),
        )
    )
    return number(f"Let r and s be the complex roots of {polynomial([c, b, 1])} = 0. What is {what}?", answer())


def cubic_symmetry(rng: random.Random, level: int) -> Problem:
    """A symmetric function of the roots of a cubic, by Vieta's and Newton's formulas."""
    b, c, d = counted(nonzero(rng, 6), nonzero(rng, 6), nonzero(rng, 9))
    what, answer = rng.choice(
        (
            ("r^3 + s^3 + t^3", lambda: c * b - b * (b * b - 2 * c) - 3 * d),
            ("r^4 + s^4 + t^4", lambda: (b * b - 2 * c) ** 2 - 2 * (c * c - 2 * b * d)),
            ("1/r^2 + 1/s^2 + 1/t^2", lambda: (c * c - 2 * b * d) / d**2),
            ("(r^2 + 1)(s^2 + 1)(t^2 + 1)", lambda: (b - d) ** 2 + (c - 1) ** 2),
        )
    )
    shown = polynomial([d, c, b, 1])
    return number(f"Let r, s and t be the complex roots of {shown} = 0. What is {what}?", answer())


def symmetric_system(rng: random.Random, level: int) -> Problem:
    """A sum of cubes from the sum and the sum of squares."""
    first, second = nonzero(rng, 12), nonzero(rng, 20)
    s, q = counted(first, first * first - 2 * second)
    product_ = (s * s - q) / 2
    what, answer = rng.choice(
        (
            ("x^3 + y^3", lambda: s**3 - 3 * product_ * s),
            ("x^4 + y^4", lambda: q * q - 2 * product_**2),
            ("x^3 y + x y^3", lambda: product_ * q),
        )
    )
    question = f"The complex numbers x and y satisfy x + y = {s} and x^2 + y^2 = {q}. What is {what}?"
    return integer(question, answer())
