"""Algebra: equations, systems, polynomials, sequences, functions."""

import random
from fractions import Fraction
from math import comb
from typing import ClassVar

from gem_envs_math.notation import draw_polynomial, nonzero, polynomial, product, total, value
from gem_envs_math.problem import Levels, Problem, ProblemEnv, in_order, integer, number, numbers


def evaluate(rng: random.Random, level: int) -> Problem:
    """The value of a polynomial."""
    if level == 0:
        p, x = [rng.randint(1, 9), rng.randint(1, 5)], rng.randint(1, 5)
    else:
        p, x = draw_polynomial(rng, 3, 9), nonzero(rng, 5)
    name = polynomial(p)
    return integer(
        rng.choice((f"What is {name} for x = {x}?", f"Let f(x) = {name}. What is f({x})?")), int(value(p, x))
    )


def linear(rng: random.Random, level: int) -> Problem:
    """a x + b = c, with an integer solution."""
    x, a, b = rng.randint(1, 9), rng.randint(1, 5), nonzero(rng, 9)
    equation = f"{total([(a, 'x'), (b, '')])} = {a * x + b}"
    return integer(rng.choice((f"Solve {equation} for x.", f"What is x if {equation}?")), x)


def like_terms(rng: random.Random, level: int) -> Problem:
    """Adding multiples of x."""
    a, b, c = rng.randint(1, 9), rng.randint(1, 9), nonzero(rng, 5)
    return integer(f"What is k if {total([(a, 'x'), (b, 'x'), (c, 'x')])} = kx for every x?", a + b + c)


def sum_and_difference(rng: random.Random, level: int) -> Problem:
    """Two numbers from their sum and difference."""
    small, gap = rng.randint(0, 9), rng.randint(1, 9)
    which, answer = rng.choice((("larger", small + gap), ("smaller", small)))
    return integer(f"Two numbers have the sum {2 * small + gap} and the difference {gap}. What is the {which}?", answer)


def proportion(rng: random.Random, level: int) -> Problem:
    """The rule of three."""
    each, few, many = rng.randint(1, 9), rng.randint(2, 5), rng.randint(2, 9)
    return integer(f"If {few} pens cost {each * few} coins, what do {many} pens cost?", each * many)


def next_term(rng: random.Random, level: int) -> Problem:
    """The next term of an arithmetic sequence."""
    start, step = rng.randint(-5, 9), nonzero(rng, 6)
    terms = ", ".join(str(start + step * index) for index in range(4))
    return integer(f"What comes next: {terms}?", start + 4 * step)


def linear_both_sides(rng: random.Random, level: int) -> Problem:
    """a(x + b) + c = d x + e."""
    a, b, c, e = nonzero(rng, 9), nonzero(rng, 9), nonzero(rng, 9), rng.randint(-20, 20)
    d = rng.choice([d for d in range(-9, 10) if d not in (0, a)])
    left = total([(a, f"({total([(1, 'x'), (b, '')])})"), (c, "")])
    return number(f"Solve {left} = {total([(d, 'x'), (e, '')])} for x.", Fraction(e - c - a * b, a - d))


def system(rng: random.Random, level: int) -> Problem:
    """Linear equations in two unknowns, or in three at the hard level."""
    letters = "xyz"[: 2 + (level == 2)]
    solution = [rng.randint(-9, 9) for _ in letters]
    while True:
        rows = [[rng.randint(-6, 6) for _ in letters] for _ in letters]
        if all(any(row) for row in rows) and _determinant(rows):
            break
    lines = [
        f"{total(list(zip(row, letters, strict=True)))} = {sum(a * x for a, x in zip(row, solution, strict=True))}"
        for row in rows
    ]
    return in_order(
        f"Solve the system {'; '.join(lines)}. Give {', '.join(letters[:-1])} and {letters[-1]}, in this order.",
        solution,
    )


def _determinant(rows: list[list[int]]) -> int:
    if len(rows) == 1:
        return rows[0][0]
    minors = ([row[:column] + row[column + 1 :] for row in rows[1:]] for column in range(len(rows)))
    return sum((-1) ** column * rows[0][column] * _determinant(minor) for column, minor in enumerate(minors))


def quadratic(rng: random.Random, level: int) -> Problem:
    """All roots of a quadratic: integers, or rational at the hard level."""
    if level == 1:
        first, second = [-rng.randint(-9, 9), 1], [-rng.randint(-9, 9), 1]
    else:
        first, second = [nonzero(rng, 9), rng.randint(2, 5)], [nonzero(rng, 9), nonzero(rng, 4)]
    roots = {Fraction(-b, a) for b, a in (first, second)}
    return numbers(f"Find all real solutions of {polynomial(product(first, second))} = 0.", sorted(roots))


def absolute_value(rng: random.Random, level: int) -> Problem:
    """|a x + b| = c."""
    a, b, c = rng.randint(1, 6), nonzero(rng, 9), rng.randint(0, 15)
    solutions = {Fraction(c - b, a), Fraction(-c - b, a)}
    return numbers(f"Find all real solutions of |{total([(a, 'x'), (b, '')])}| = {c}.", sorted(solutions))


def expansion(rng: random.Random, level: int) -> Problem:
    """A coefficient of a product of two polynomials, or of a power of a binomial at the hard level."""
    if level == 1:
        first, second = draw_polynomial(rng, 2, 6), draw_polynomial(rng, rng.randint(1, 2), 6)
        power = rng.randint(1, len(first) + len(second) - 3)
        shown, answer = f"({polynomial(first)})({polynomial(second)})", product(first, second)[power]
    else:
        a, b, n = rng.randint(1, 3), nonzero(rng, 4), rng.randint(4, 8)
        power = rng.randint(1, n - 1)
        shown, answer = f"({total([(a, 'x'), (b, '')])})^{n}", comb(n, power) * a**power * b ** (n - power)
    return integer(f"What is the coefficient of x^{power} in the expansion of {shown}?", answer)


def composition(rng: random.Random, level: int) -> Problem:
    """f(g(x)) at a point."""
    f, g, x = draw_polynomial(rng, level, 5), draw_polynomial(rng, 2, 4), nonzero(rng, 3)
    question = f"Let f(x) = {polynomial(f)} and g(x) = {polynomial(g)}. What is f(g({x}))?"
    return integer(question, int(value(f, value(g, x))))


def root_symmetry(rng: random.Random, level: int) -> Problem:
    """A symmetric function of the roots of a quadratic, by Vieta's formulas; the roots may be complex."""
    b, c = nonzero(rng, 9), nonzero(rng, 9)
    if level == 1:
        asked = {"r + s": -b, "rs": c, "r^2 + s^2": b * b - 2 * c, "(r - s)^2": b * b - 4 * c}
    else:
        asked = {
            "r^3 + s^3": -(b**3) + 3 * b * c,
            "1/r + 1/s": Fraction(-b, c),
            "r/s + s/r": Fraction(b * b - 2 * c, c),
            "r^4 + s^4": (b * b - 2 * c) ** 2 - 2 * c * c,
        }
    what, answer = rng.choice(list(asked.items()))
    return number(f"Let r and s be the complex roots of {polynomial([c, b, 1])} = 0. What is {what}?", answer)


def term_of_sequence(rng: random.Random, level: int) -> Problem:
    """A late term of an arithmetic or geometric sequence."""
    shown, terms = _sequence(rng)
    return integer(f"{shown}. What is term number {len(terms)}?", terms[-1])


def series(rng: random.Random, level: int) -> Problem:
    """The sum of the first terms of an arithmetic or geometric sequence."""
    shown, terms = _sequence(rng)
    return integer(f"{shown}. What is the sum of its first {len(terms)} terms?", sum(terms))


def _sequence(rng: random.Random) -> tuple[str, list[int]]:
    """A sequence in words, and its terms."""
    if rng.random() < 0.5:
        start, step = rng.randint(-20, 20), nonzero(rng, 12)
        terms, name = [start + step * index for index in range(rng.randint(10, 60))], "An arithmetic"
    else:
        start, ratio = nonzero(rng, 6), rng.choice((-3, -2, 2, 3))
        terms, name = [start * ratio**index for index in range(rng.randint(5, 9))], "A geometric"
    return f"{name} sequence begins {', '.join(map(str, terms[:3]))}", terms


def cubic(rng: random.Random, level: int) -> Problem:
    """All roots of a cubic with integer roots."""
    roots = [rng.randint(-6, 6) for _ in range(3)]
    p = [1]
    for root in roots:
        p = product(p, [-root, 1])
    return numbers(f"Find all real solutions of {polynomial(p)} = 0.", sorted(set(roots)))


def remainder(rng: random.Random, level: int) -> Problem:
    """The remainder of a polynomial divided by (x - a)(x - b)."""
    p = draw_polynomial(rng, rng.randint(3, 5), 5)
    a, b = rng.sample([-2, -1, 0, 1, 2, 3], 2)
    slope = Fraction(value(p, a) - value(p, b), a - b)
    divisor = polynomial(product([-a, 1], [-b, 1]))
    return in_order(
        f"The remainder of {polynomial(p)} divided by {divisor} is mx + n. Give m and n, in this order.",
        [slope, value(p, a) - slope * a],
    )


def exponential(rng: random.Random, level: int) -> Problem:
    """An equation between powers of one base."""
    base = rng.choice((2, 3, 5))
    p, q = rng.sample((1, 2, 3), 2)
    a, b = nonzero(rng, 4), nonzero(rng, 6)
    while True:
        c, d = nonzero(rng, 4), nonzero(rng, 6)
        if p * a != q * c:
            break
    left, right = total([(a, "x"), (b, "")]), total([(c, "x"), (d, "")])
    return number(f"Solve {base**p}^({left}) = {base**q}^({right}) for x.", Fraction(q * d - p * b, p * a - q * c))


def logarithm(rng: random.Random, level: int) -> Problem:
    """log(x) + log(x + a) = c, where one root of the quadratic does not count."""
    base = rng.choice((2, 3, 5, 6))
    c = rng.randint(2, 4 if base < 5 else 3)
    x = rng.choice([x for x in range(1, base**c + 1) if base**c % x == 0])
    shift = base**c // x - x
    inner = total([(1, "x"), (shift, "")])
    return integer(f"Solve log_{base}(x) + log_{base}({inner}) = {c} for real x.", x)


def radical(rng: random.Random, level: int) -> Problem:
    """sqrt(x + a) = x - b: squaring may bring in another root."""
    side, b = rng.randint(0, 9), rng.randint(-9, 9)
    x = side + b
    a = side * side - x
    inner, outer = total([(1, "x"), (a, "")]), total([(1, "x"), (-b, "")])
    # (x - b)^2 = x + a has a second root, where the side is 1 - side: it counts only if that is not negative.
    solutions = {x, 1 - side + b} if side <= 1 else {x}
    return numbers(f"Find all real solutions of sqrt({inner}) = {outer}.", sorted(solutions))


class Algebra(ProblemEnv):
    r"""Equations, systems, polynomials, sequences, functions.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; arguments and more: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (evaluate, linear, like_terms, sum_and_difference, proportion, next_term),
        "medium": (
            evaluate, linear_both_sides, system, quadratic, absolute_value, expansion, composition, root_symmetry,
            term_of_sequence,
        ),
        "hard": (
            system, quadratic, cubic, expansion, composition, root_symmetry, remainder, series, exponential, logarithm,
            radical,
        ),
    }  # fmt: skip
