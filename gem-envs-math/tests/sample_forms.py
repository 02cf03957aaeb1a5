"""Independent computations of the answers of `math:Sample`: formulas, sets, points and words. Row id → its value."""

from datetime import date
from fractions import Fraction
from itertools import combinations, product
from math import gcd, isqrt, lcm
from statistics import pstdev

import sympy as sp
from sample_values import (
    LISTS,
    PARABOLAS,
    STATEMENTS,
    A,
    C,
    a,
    alternates_between_two_limits,
    b,
    choice,
    clock,
    converges_on_the_left_end_only,
    curve,
    divisors,
    first,
    h,
    i,
    in_base,
    inequality,
    intervals,
    k,
    n,
    only,
    plain,
    r,
    several,
    shape,
    w,
    x,
    y,
    z,
)

CHECKS = {
    "complex-number-01": lambda: sp.expand((3 - 2 * i) * (4 + 5 * i)),
    "complex-number-02": lambda: sp.simplify((5 + i) / (1 - i)),
    "complex-number-03": lambda: i**2027,
    "complex-number-04": lambda: sp.expand((1 + i) ** 7),
    "complex-number-05": lambda: only(
        a + b * i for a in range(-9, 10) for b in range(-9, 10) if 3 * a == 9 and -b == -4
    ),
    "complex-number-06": lambda: only(root for root in sp.solve(x**2 - 4 * x + 29, x) if sp.im(root) > 0),
    "complex-number-07": lambda: only(
        a + b * i for a in range(1, 20) for b in range(-20, 20) if (a * a - b * b, 2 * a * b) == (15, 8)
    ),
    "complex-number-08": lambda: 4 * (sp.cos(2 * sp.pi / 3) + i * sp.sin(2 * sp.pi / 3)),
    "expression-01": lambda: sp.expand((2 * x - 3) * (x**2 + x - 4)),
    "expression-02": lambda: sp.cancel((x**2 - 9) / (x**2 - x - 6)),
    "expression-03": lambda: sp.diff(x**2 * sp.sin(x), x),
    "expression-04": lambda: sp.diff(x / (x**2 + 1), x),
    "expression-05": lambda: sp.interpolate([5, 8, 11, 14], n),
    "expression-06": lambda: sp.summation(2 * k, (k, 1, n)),
    "expression-07": lambda: sp.expand(w * (2 * w + 3)),
    "expression-08": lambda: sp.expand((3 * x - 2) ** 2 + 1),
    "expression-09": lambda: only(sp.solve((2 * w + 1) / 3 - x, w)),
    "expression-10": lambda: sp.rem(x**5 + 2 * x**3 - x + 4, x**2 + 1, x),
    "expression-11": lambda: only(sp.solve(2 * sp.pi * r**2 + 2 * sp.pi * r * h - A, h)),
    "expression-12": lambda: sp.diff(x**4 - 5 * x**2 + 7, x, 2),
    "factorisation-01": lambda: sp.factor(x**2 + 4 * x - 21),
    "factorisation-02": lambda: sp.factor(6 * x**2 - 7 * x - 20),
    "factorisation-03": lambda: sp.factor(x**4 - 81),
    "factorisation-04": lambda: sp.factor(x**3 + 2 * x**2 - 5 * x - 6),
    "factorisation-05": lambda: sp.factor(x**3 - 8),
    "factorisation-06": lambda: sp.factor(8 * a**3 - 27 * b**3),
    "equation-01": lambda: "y=" + plain(sp.interpolate([(2, 1), (5, 10)], x)),
    "equation-02": lambda: "y=-2x+4" if sp.expand(-1 / sp.Rational(1, 2) * (x - 3) - 2) == -2 * x + 4 else None,
    "equation-03": lambda: curve("(x-2)^2+(y+5)^2=16", lambda t: (2 + 4 * sp.cos(t), -5 + 4 * sp.sin(t))),
    "equation-04": lambda: "y=" + plain(sp.expand(sp.diff(x**2, x).subs(x, 3) * (x - 3) + 9)),
    "equation-05": lambda: "x=" + plain(only(sp.solve(sp.diff(2 * x**2 - 12 * x + 1, x), x))),
    "equation-06": lambda: "x=" + plain(only(sp.singularities((x + 1) / (x - 4), x))),
    "equation-07": lambda: f"y={only(sp.solve(a * (3 - 1) ** 2 - 2 - 10, a))}(x-1)^2-2",
    "equation-08": lambda: "y=" + plain(sp.limit((6 * x**2 - 1) / (2 * x**2 + 5), x, sp.oo)),
    "equation-09": lambda: plain(6 + sp.Plane((1, 0, 0), (0, 2, 0), (0, 0, 3)).equation(x, y, z)) + "=6",
    "inequality-01": lambda: inequality("x>-3", 5 - 2 * x < 11),
    "inequality-02": lambda: inequality(r"x\ge 7", 3 * (x + 4) <= 5 * x - 2),
    "inequality-03": lambda: inequality("-3<x<4", sp.Abs(2 * x - 1) < 7),
    "inequality-04": lambda: inequality("-6<k<6", sp.discriminant(w**2 + x * w + 9, w) < 0),
    "interval-01": lambda: intervals(5 - 2 * x >= 0),
    "interval-02": lambda: intervals(x**2 - x - 12 <= 0),
    "interval-03": lambda: intervals(sp.calculus.util.function_range(3 - 2 * sp.sin(x), x, sp.Interval(0, 2 * sp.pi))),
    "interval-04": lambda: intervals(x**2 - 4 > 0),
    "interval-05": lambda: intervals((x - 1) / (x + 3) >= 0),
    "interval-06": lambda: intervals(sp.diff(x**3 - 12 * x, x) < 0),
    "interval-07": lambda: intervals(sp.Abs(x + 2) > 5),
    "interval-08": lambda: "[-2,2)" if converges_on_the_left_end_only() else None,
    "set-01": lambda: {n for n in range(1, 25) if n % 3 == 0 and n % 2 == 0},
    "set-02": lambda: {n for n in range(-99, 100) if n**3 == 4 * n},
    "set-03": lambda: set(sp.primefactors(1155)),
    "set-04": lambda: set(divisors(28)),
    "set-05": lambda: {n for n in range(-99, 100) if abs(n - 1) < 3},
    "set-06": lambda: {1, 3, 5, 7, 9} ^ {2, 3, 5, 7},
    "set-07": lambda: {n * n % 11 for n in range(1, 11)},
    "set-08": lambda: {n for n in range(12) if n * n % 12 == 1},
    "set-09": lambda: {s for s in range(20) if sum(sum(c) == s for c in combinations(range(1, 6), 3)) > 1},
    "several-answers-01": lambda: [n for n in range(-99, 100) if n * n + 3 * n == 10],
    "several-answers-02": lambda: sorted(Fraction(2 + s * 10, 3) for s in (-1, 1)),
    "several-answers-03": lambda: several(sp.solveset(2 * sp.cos(x) - 1, x, sp.Interval.Ropen(0, 2 * sp.pi))),
    "several-answers-04": lambda: list(sp.primerange(80, 100)),
    "several-answers-05": lambda: [n for n in range(21) if n * (20 - n) == 91],
    "several-answers-06": lambda: [n for n in range(-99, 100) if n**4 - 13 * n**2 + 36 == 0],
    "several-answers-07": lambda: several(sp.solveset(sp.diff(2 * x**3 - 3 * x**2 - 36 * x + 5, x), x)),
    "several-answers-08": lambda: several(sp.Matrix([[4, 1], [2, 3]]).eigenvals()),
    "point-01": lambda: (Fraction(-3 + 7, 2), Fraction(8 + 2, 2)),
    "point-02": lambda: only(
        (p, q) for p in range(-50, 50) for q in range(-50, 50) if 2 * p + 3 * q == 12 and p - q == 1
    ),
    "point-03": lambda: min(((p, p * p + 8 * p + 3) for p in range(-50, 50)), key=lambda point: point[1]),
    "point-04": lambda: sp.Point(5, -2).reflect(sp.Line((0, 0), (1, 1))),
    "point-05": lambda: sp.Point(3, 4).rotate(sp.pi / 2),
    "point-06": lambda: sp.Triangle((0, 0), (9, 3), (3, 12)).centroid,
    "point-07": lambda: (4 * sp.cos(2 * sp.pi / 3), 4 * sp.sin(2 * sp.pi / 3)),
    "point-08": lambda: (gcd(84, 120), lcm(84, 120)),
    "vector-01": lambda: tuple(sp.Matrix([1, 2, 3]).cross(sp.Matrix([4, 5, 6]))),
    "vector-02": lambda: only(
        v
        for v in product(range(-9, 10), repeat=3)
        if (sum(v), 2 * v[0] - v[1] + v[2], v[0] + 2 * v[1] - v[2]) == (4, 8, -3)
    ),
    "vector-03": lambda: tuple(Fraction(part, isqrt(4 + 9 + 36)) for part in (2, -3, 6)),
    "vector-04": lambda: min((p, q, 65) for p in range(1, 65) for q in range(p, 65) if p * p + q * q == 65**2),
    "vector-05": lambda: tuple(sp.diff(x**2 * y + y * z**3, v).subs({x: 1, y: 2, z: -1}) for v in (x, y, z)),
    "vector-06": lambda: (10000 // 3600, 10000 % 3600 // 60, 10000 % 60),
    "matrix-01": lambda: sp.Matrix([[1, 2], [3, 4]]) * sp.Matrix([[0, 1], [5, -2]]),
    "matrix-02": lambda: sp.Matrix([[2, 1], [5, 3]]).inv(),
    "matrix-03": lambda: sp.Matrix([[1, 1], [0, 1]]) ** 10,
    "matrix-04": lambda: sp.Matrix([[1, 4, -2], [0, 3, 7]]).T,
    "matrix-05": lambda: 2 * sp.Matrix([[3, -1], [2, 0]]) - sp.Matrix([[1, 4], [-2, 5]]),
    "matrix-06": lambda: sp.Matrix([[sp.cos(sp.pi / 2), -sp.sin(sp.pi / 2)], [sp.sin(sp.pi / 2), sp.cos(sp.pi / 2)]]),
    "matrix-07": lambda: sp.Matrix([[1, 2, 3], [2, 4, 7]]).rref()[0],
    "matrix-08": lambda: sp.Matrix([[4, 2], [1, 1]]).inv(),
    "number-base-01": lambda: in_base(100, 7),
    "number-base-02": lambda: in_base(int("101101", 2) + int("1101", 2), 2),
    "number-base-03": lambda: in_base(500, 16),
    "number-base-04": lambda: in_base(int("221", 3) * int("12", 3), 3),
    "number-base-05": lambda: in_base(int("345", 8), 2),
    "time-of-day-01": lambda: clock(19 * 60 + 50 + 145),
    "time-of-day-02": lambda: clock(23 * 60 + 40 + 395),
    "time-of-day-03": lambda: clock(7 * 60 + first(lambda m: m % 18 == m % 24 == 0)),
    "time-of-day-04": lambda: clock(8 * 60 + 12 * 55),
    "choice-01": lambda: choice(
        not value.is_rational for value in (sp.Rational(12, 99), sp.sqrt(16), sp.sqrt(18), sp.Rational(22, 7))
    ),
    "choice-02": lambda: choice(
        value == 3**20 == max(2**30, 3**20, 5**12, 10**9) for value in (2**30, 3**20, 5**12, 10**9)
    ),
    "choice-03": lambda: choice(max((f(v), v) for v in range(-9, 10)) == (3, 2) for f in PARABOLAS),
    "choice-04": lambda: choice(
        all(f(p, q) == (not p or q) for p, q in product((False, True), repeat=2)) for f in STATEMENTS
    ),
    "choice-05": lambda: choice(pstdev(v) == max(map(pstdev, LISTS)) for v in LISTS),
    "choice-06": lambda: choice(
        sp.simplify(f + f.subs(x, -x)) == 0 for f in (x**2 + x, sp.cos(x), sp.Abs(x), x**3 - sp.sin(x))
    ),
    "choice-07": lambda: "C" if alternates_between_two_limits() else None,
    "choice-08": lambda: choice(value % 11 == 0 for value in (918081, 92807, 123456, 60317)),
    "word-01": lambda: only(
        {date(year, 6, 1).strftime("%A") for year in range(1900, 2000) if date(year, 3, 1).weekday() == 1}
    ),
    "word-02": lambda: "yes" if all(2027 % d for d in range(2, 2027)) else "no",
    "word-03": lambda: shape((0, 0), (5, 0), (8, 4), (3, 4)),
    "word-04": lambda: "even" if sp.expand((-x) ** 4 - 3 * (-x) ** 2 - (x**4 - 3 * x**2)) == 0 else None,
    "word-05": lambda: {-1: "obtuse", 0: "right", 1: "acute"}[sp.sign(8**2 + 11**2 - 14**2)],
    "word-06": lambda: only(
        "knight" if a else "knave" for a, b in product((True, False), repeat=2) if a == (not b) and b == (a == b)
    ),
    "infinity-01": lambda: sp.limit(x**3 / (x**2 + 1), x, sp.oo),
    "infinity-02": lambda: sp.limit(sp.log(x), x, 0, "+"),
    "infinity-03": lambda: sp.integrate(1 / sp.sqrt(x), (x, 1, sp.oo)),
    "antiderivative-01": lambda: sp.integrate(6 * x**2 - 4 * x + 5, x) + C,
    "antiderivative-02": lambda: sp.integrate(sp.cos(3 * x), x) + C,
    "antiderivative-03": lambda: sp.expand(sp.integrate(x * sp.exp(x), x)) + C,
    "antiderivative-04": lambda: sp.integrate(1 / (x**2 + 4), x) + C,
}
