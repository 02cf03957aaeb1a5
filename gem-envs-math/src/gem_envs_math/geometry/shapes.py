"""Functions that the kinds of problems share: building a problem, and placing the corners of figures."""

import random
from fractions import Fraction
from math import cos, gcd, lcm, radians, sin, sqrt

from gem_envs_math.counted import Number, counted, root, steps_of
from gem_envs_math.figures import Figure, Point
from gem_envs_math.notation import written
from gem_envs_math.problem import INTEGER, Form, Problem

TRIPLES = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (6, 8, 10), (9, 12, 15), (12, 16, 20)]


def problem(given: str, question: str, answer: Number, figure: Figure, form: Form = INTEGER, text: str = "") -> Problem:
    """A problem whose figure shows what is given; `text` is an answer that is an expression, with `answer` as a number
    of its solution."""
    return Problem(question, form, text or written(answer), steps_of(answer), given, figure)


def named(names: str, *points: Point) -> tuple[tuple[Point, str], ...]:
    """Points with names of one letter."""
    return tuple(zip(points, names, strict=True))


def on_circle(degrees: float, radius: float = 1.0) -> Point:
    """A point of the circle around (0, 0)."""
    return radius * cos(radians(degrees)), radius * sin(radians(degrees))


def triangle(alpha: float, beta: float) -> tuple[Point, Point, Point]:
    """A triangle with these angles, in degrees, at A and B; AB has the length 1."""
    b = sin(radians(beta)) / sin(radians(alpha + beta))
    return (0.0, 0.0), (1.0, 0.0), (b * cos(radians(alpha)), b * sin(radians(alpha)))


def from_sides(a: float, b: float, c: float) -> tuple[Point, Point, Point]:
    """A triangle with BC = a, CA = b and AB = c."""
    x = (b * b + c * c - a * a) / (2 * c)
    return (0.0, 0.0), (float(c), 0.0), (x, sqrt(b * b - x * x))


def three_sides(
    corners: tuple[Point, Point, Point], a: int, b: int, c: int, name: str = ""
) -> tuple[str, tuple[tuple[Point, Point, str], ...]]:
    """The sides in words and as labels, the first with `name` where it is divided."""
    first, second, third = corners
    labels = (second, third, f"{name}{a}"), (third, first, str(b)), (first, second, str(c))
    return f"BC = {a}, CA = {b} and AB = {c}.", labels


def heron(rng: random.Random) -> tuple[int, int, int]:
    """The sides of a triangle with an integer area: two right triangles side by side."""
    (a, b, c), (d, e, f) = (rng.choice(TRIPLES[:5]) for _ in range(2))
    (a, b), (d, e) = rng.choice(((a, b), (b, a))), rng.choice(((d, e), (e, d)))
    height = lcm(a, d)
    sides = c * height // a, f * height // d, b * height // a + e * height // d
    larger, smaller = rng.randint(1, 5), gcd(*sides)
    one, two, three = (side * larger // smaller for side in sides)
    return one, two, three


def of_sides(rng: random.Random, what: str, question: str, form: Form) -> Problem:
    """A problem about a triangle with integer sides and area, by Heron's formula: the `area`, or the radius of the
    `inner` or `outer` circle."""
    sides = heron(rng)
    a, b, c = counted(*sides)
    half = (a + b + c) / 2
    area = root(half * (half - a) * (half - b) * (half - c)) or Fraction(0)
    answers = {"area": lambda: area, "inner": lambda: area / half, "outer": lambda: a * b * c / (4 * area)}
    corners = from_sides(*sides)
    given, lengths = three_sides(corners, *sides)
    figure = Figure(polygons=(corners,), points=named("ABC", *corners), lengths=lengths)
    return problem(given, question, answers[what](), figure, form)
