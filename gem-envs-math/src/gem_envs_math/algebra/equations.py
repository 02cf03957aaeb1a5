"""Problems about equations and systems of equations."""

import random
import re
from collections.abc import Sequence
from fractions import Fraction

from gem_envs_math.counted import Number, counted, like, log, root
from gem_envs_math.notation import nonzero, polynomial, product, total
from gem_envs_math.problem import Problem, in_order, integer, number, numbers


def linear(rng: random.Random, level: int) -> Problem:
    """a x + b = c, with an integer solution."""
    x, a, b = nonzero(rng, 15), rng.randint(2, 9), nonzero(rng, 30)
    equation = f"{total([(a, 'x'), (b, '')])} = {a * x + b}"
    slope, left, right = counted(a, b, a * x + b)
    return integer(rng.choice((f"Solve {equation} for x.", f"What is x if {equation}?")), (right - left) / slope)


def sum_and_difference(rng: random.Random, level: int) -> Problem:
    """Two numbers from their sum and difference."""
    small, gap = rng.randint(5, 60), rng.randint(3, 40)
    both, apart = counted(2 * small + gap, gap)
    which, answer = rng.choice((("larger", lambda: (both + apart) / 2), ("smaller", lambda: (both - apart) / 2)))
    return integer(f"Two numbers have the sum {both} and the difference {apart}. What is the {which}?", answer())


def ages(rng: random.Random, level: int) -> Problem:
    """Two ages, one a multiple of the other today, from their sum in some years."""
    child, ratio, later = rng.randint(3, 15), rng.randint(3, 7), rng.randint(2, 12)
    together, k, t = counted(child * (ratio + 1) + 2 * later, ratio, later)
    older, younger = rng.sample(("Ann", "Bob", "Eve", "Tom", "Ida", "Max"), 2)
    question = (
        f"{older} is {ratio} times as old as {younger}. In {later} years they will be {together} years old together. "
        f"How old is {older} now?"
    )
    return integer(question, (together - 2 * t) / (k + 1) * k)


def tickets(rng: random.Random, level: int) -> Problem:
    """How many of two kinds, from their number and their worth."""
    dear, cheap = sorted(rng.sample(range(2, 16), 2), reverse=True)
    many, few = rng.randint(5, 60), rng.randint(5, 60)
    n, worth, p, q = counted(many + few, many * dear + few * cheap, dear, cheap)
    question = f"{n} tickets cost {worth} coins: {dear} for an adult, {cheap} for a child. How many are for adults?"
    return integer(question, (worth - q * n) / (p - q))


def linear_both_sides(rng: random.Random, level: int) -> Problem:
    """a(x + b) + c = d x + e."""
    a, b, c, e = rng.choice((-1, 1)) * rng.randint(2, 9), nonzero(rng, 9), nonzero(rng, 9), nonzero(rng, 20)
    d = rng.choice([d for d in range(-9, 10) if d not in (0, a)])
    left = total([(a, f"({total([(1, 'x'), (b, '')])})"), (c, "")])
    p, q, r, s, t = counted(a, b, c, d, e)
    return number(f"Solve {left} = {total([(d, 'x'), (e, '')])} for x.", (t - r - p * q) / (p - s))


def absolute_value(rng: random.Random, level: int) -> Problem:
    """|a x + b| = c."""
    a, b, c = counted(rng.randint(2, 6), nonzero(rng, 12), rng.randint(1, 20))
    question = f"Find all real solutions of |{total([(a, 'x'), (b, '')])}| = {c}."
    return numbers(question, [(c - b) / a, (-c - b) / a])


def two_distances(rng: random.Random, level: int) -> Problem:
    """|p x - a| + |x - b| = c: each case gives a candidate, which must lie in its interval."""
    while True:
        p, a, b, c = counted(rng.randint(1, 4), nonzero(rng, 9), nonzero(rng, 9), rng.randint(3, 20))
        cases = [(one, other, one * p + other) for one in (-1, 1) for other in (-1, 1)]
        tried = [(one, other, (c + one * a + other * b) / slope) for one, other, slope in cases if slope]
        found = [x for one, other, x in tried if one * (p * x - a) >= 0 and other * (x - b) >= 0]
        if len(set(found)) == 2:
            break
    shown = f"|{total([(p, 'x'), (-a, '')])}| + |{total([(1, 'x'), (-b, '')])}| = {c}"
    return numbers(f"Find all real solutions of {shown}.", found)


def system(rng: random.Random, level: int) -> Problem:
    """Linear equations in two unknowns, or in three at the hard level."""
    letters = "xyz"[: 2 + (level == 2)]
    solution = [nonzero(rng, 9) for _ in letters]
    while True:
        rows: list[Sequence[Number]] = [[nonzero(rng, 6) for _ in letters] for _ in letters]
        sides = [sum(a * x for a, x in zip(row, solution, strict=True)) for row in rows]
        flat = counted(*(entry for row, side in zip(rows, sides, strict=True) for entry in (*row, side)))
        width = len(letters) + 1
        if found := _solved([flat[index : index + width] for index in range(0, len(flat), width)]):
            break
    lines = [f"{total(list(zip(row, letters, strict=True)))} = {side}" for row, side in zip(rows, sides, strict=True)]
    return in_order(
        f"Solve the system {'; '.join(lines)}. Give {', '.join(letters[:-1])} and {letters[-1]}, in this order.", found
    )


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    """The solution of linear equations by elimination; none if it is not unique. The last column is the right side."""
    if len(rows) == 1:
        return [rows[0][1] / rows[0][0]] if rows[0][0] else []
    first = next((row for row in rows if row[0]), None)
    if first is None:
        return []
    others = [row for row in rows if row is not first]
    shares = [row[0] / first[0] for row in others]
    below = [
        [own - share * top for own, top in zip(row[1:], first[1:], strict=True)]
        for row, share in zip(others, shares, strict=True)
    ]
    if not (found := _solved(below)):
        return []
    known = [factor * x for factor, x in zip(first[1:], found, strict=False)]
    return [(first[-1] - sum(known)) / first[0], *found]


def quadratic(rng: random.Random, level: int) -> Problem:
    """Both roots of a quadratic: an integer and a fraction, or two integers."""
    first, second = [nonzero(rng, 9), 1], [nonzero(rng, 9), rng.randint(1, 3)]
    while second[0] == first[0] * second[1]:
        second = [nonzero(rng, 9), rng.randint(1, 3)]
    p = product(first, second)
    return numbers(f"Find all real solutions of {polynomial(p)} = 0.", _roots(*counted(*p)))


def _roots(c: Fraction, b: Fraction, a: Fraction) -> list[Fraction]:
    """The rational roots of a x^2 + b x + c, the larger one first if a > 0."""
    if (side := root(b * b - 4 * a * c)) is None:
        return []
    below = 2 * a
    return [(-b + side) / below, (-b - side) / below] if side else [-b / below]


def cubic(rng: random.Random, level: int) -> Problem:
    """All roots of a cubic: an integer is found by trying, the others from a quadratic."""
    p: Sequence[Number] = [1]
    for root_, below in ((nonzero(rng, 5), 1), (nonzero(rng, 6), 1), (nonzero(rng, 7), rng.randint(1, 3))):
        p = product(p, [-root_, below])
    d, c, b, a = counted(*p)
    tried = (sign * size for size in range(1, 8) for sign in (1, -1) if p[0] % size == 0)
    first = next(x for x in tried if not ((a * x + b) * x + c) * x + d)
    slope = a * first + b
    return numbers(
        f"Find all real solutions of {polynomial(p)} = 0.", [*_roots(slope * first + c, slope, a), like(first, a)]
    )


def biquadratic(rng: random.Random, level: int) -> Problem:
    """A quadratic in x^2, of which a negative root gives no real solution."""
    m, n = rng.sample(range(1, 10), 2)
    p = product([-m * m, 0, 1], rng.choice(([-n * n, 0, 1], [n, 0, rng.randint(1, 4)])))
    c, _, b, _, a = counted(*p)
    squares = [root(z) for z in _roots(c, b, a)]
    found = [sign * x for x in squares if x is not None for sign in (1, -1)]
    return numbers(f"Find all real solutions of {polynomial(p)} = 0.", found)


def inverse_function(rng: random.Random, level: int) -> Problem:
    """f(f(x)) = k for a fraction of linear functions: two inversions."""
    while True:
        *drawn, k = (nonzero(rng, 5) for _ in range(5))
        a, b, c, d = drawn
        if a * d - b * c and c * k - a and c * (b - d * k) - a * (c * k - a):
            break
    a, b, c, d, k = counted(*drawn, k)
    inner = (b - d * k) / (c * k - a)
    shown = f"({polynomial([b, a])})/({polynomial([d, c])})"
    return number(f"Let f(x) = {shown}. For which x is f(f(x)) = {k}?", (b - d * inner) / (c * inner - a))


def exponential(rng: random.Random, level: int) -> Problem:
    """A quadratic in a power with the exponent x, of which a root may be negative and then does not count."""
    base = rng.choice((2, 3, 5, 7))
    m, n = rng.sample(range(-2, 5), 2)
    first, second = Fraction(base) ** m, rng.choice((Fraction(base) ** n, Fraction(-rng.randint(1, 20))))
    p = product([-first.numerator, first.denominator], [-second.numerator, second.denominator])
    c, b, a = counted(*p)
    shown = " * ".join(re.split(r"(?<=\d)(?=[uv])", total([(a, "u"), (b, "v"), (c, "")])))
    shown = shown.replace("u", f"{base**2}^x").replace("v", f"{base}^x")
    found = [log(power, base) for power in _roots(c, b, a)]
    return numbers(f"Find all real solutions of {shown} = 0.", [x for x in found if x is not None])


def exponents(rng: random.Random, level: int) -> Problem:
    """An equation between powers of powers of one base, with a quadratic exponent."""
    base = rng.choice((2, 3, 5))
    p, q = rng.sample((1, 2, 3), 2)
    r, s = rng.sample(range(-8, 9), 2)
    slope, shift = p * nonzero(rng, 4), p * nonzero(rng, 6)
    # p (x^2 + b x + c) - q (slope x + shift) is p (x - r)(x - s).
    b, c = q * slope // p - r - s, q * shift // p + r * s
    left, right, k, m, d, e = counted(base**p, base**q, b, c, slope, shift)
    first, second = log(left, base) or Fraction(0), log(right, base) or Fraction(0)
    found = _roots(first * m - second * e, first * k - second * d, first)
    shown = f"{left}^({polynomial([c, b, 1])}) = {right}^({polynomial([shift, slope])})"
    return numbers(f"Find all real solutions of {shown}.", found)


def logarithm(rng: random.Random, level: int) -> Problem:
    """log(x + s) + log(x + t) = c, where one root of the quadratic does not count."""
    base = rng.choice((2, 3, 5, 6, 10))
    power = rng.randint(2, 4 if base < 5 else 3)
    one = rng.choice([d for d in range(1, base**power + 1) if base**power % d == 0 and d * d != base**power])
    first = nonzero(rng, 9)
    s, t, c = counted(first, base**power // one - one + first, power)
    inner = [total([(1, "x"), (shift, "")]) for shift in (s, t)]
    found = _roots(s * t - like(base, c) ** power, s + t, like(1, c))
    answer = next(x for x in found if x + s > 0 and x + t > 0)
    return integer(f"Solve log_{base}({inner[0]}) + log_{base}({inner[1]}) = {power} for real x.", answer)


def radical(rng: random.Random, level: int) -> Problem:
    """sqrt(a x + b) = x - c: squaring may bring in another root."""
    side, outer, slope = rng.randint(0, 9), nonzero(rng, 9), nonzero(rng, 9)
    a, b, c = counted(slope, side * side - slope * (side + outer), outer)
    found = _roots(c * c - b, -2 * c - a, like(1, a))
    shown = f"sqrt({total([(a, 'x'), (b, '')])}) = {total([(1, 'x'), (-c, '')])}"
    return numbers(f"Find all real solutions of {shown}.", [x for x in found if x - c >= 0])


def two_radicals(rng: random.Random, level: int) -> Problem:
    """sqrt(x + a) + sqrt(x + b) = c, or their difference."""
    x, larger = rng.randint(-30, 30), rng.randint(2, 12)
    smaller = rng.randrange(1, larger)
    sign = rng.choice((-1, 1))
    a, b, c = counted(larger**2 - x, smaller**2 - x, larger + sign * smaller)
    first = (c + (a - b) / c) / 2
    inner = [f"sqrt({total([(1, 'x'), (shift, '')])})" for shift in (a, b)]
    return integer(f"Solve {inner[0]} {'+' if sign > 0 else '-'} {inner[1]} = {c} for real x.", first * first - a)
