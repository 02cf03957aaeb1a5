"""Problems about areas and perimeters."""

import random
from fractions import Fraction
from math import atan2

from gem_envs_math.figures import Figure, Point
from gem_envs_math.geometry.shapes import named, of_sides, problem
from gem_envs_math.problem import EXPRESSION, INTEGER, NUMBER, Problem


def rectangle(rng: random.Random, level: int) -> Problem:
    """The area or the perimeter of a rectangle."""
    a, b = rng.randint(2, 12), rng.randint(2, 12)
    corners = (0, 0), (a, 0), (a, b), (0, b)
    lengths = (corners[0], corners[1], str(a)), (corners[1], corners[2], str(b))
    what, answer = rng.choice((("area", a * b), ("perimeter", 2 * (a + b))))
    figure = Figure(polygons=(corners,), points=named("ABCD", *corners), lengths=lengths)
    return problem(f"AB = {a} and BC = {b}.", f"What is the {what} of the rectangle ABCD?", answer, figure)


def right_triangle(rng: random.Random, level: int) -> Problem:
    """The area of a right triangle."""
    a, b = 2 * rng.randint(1, 6), rng.randint(2, 12)
    c, points = (0, 0), ((a, 0), (0, b))
    figure = Figure(
        polygons=((*points, c),),
        points=named("ABC", *points, c),
        lengths=((c, points[0], str(a)), (c, points[1], str(b))),
        angles=((c, *points, ""),),
    )
    return problem(
        f"CA = {a} and CB = {b}.", "The angle at C is right. What is the area of the triangle ABC?", a * b // 2, figure
    )


def parallelogram(rng: random.Random, level: int) -> Problem:
    """The area of a parallelogram."""
    a, h, lean = rng.randint(3, 12), rng.randint(2, 9), rng.randint(1, 2)
    corners = (0, 0), (a, 0), (a + lean, h), (lean, h)
    foot = (lean, 0)
    figure = Figure(
        polygons=(corners,),
        lines=((corners[3], foot),),
        points=named("ABCD", *corners),
        lengths=((corners[0], corners[1], str(a)), (corners[3], foot, str(h))),
        angles=((foot, corners[1], corners[3], ""),),
    )
    return problem(
        f"AB = {a}, and the height from D to AB is {h}.", "What is the area of the parallelogram ABCD?", a * h, figure
    )


def trapezoid(rng: random.Random, level: int) -> Problem:
    """The area of a trapezoid."""
    a, b, h = rng.randint(6, 18), rng.randint(2, 14), rng.randint(2, 12)
    lean = rng.randint(0, 3)
    corners = (0, 0), (a, 0), (lean + b, h), (lean, h)
    # Somewhere above AB and below CD.
    height = (lean + min(a, lean + b)) / 2
    foot, head = (height, 0), (height, h)
    figure = Figure(
        polygons=(corners,),
        lines=((head, foot),),
        points=named("ABCD", *corners),
        lengths=((corners[0], corners[1], str(a)), (corners[2], corners[3], str(b)), (head, foot, str(h))),
        angles=((foot, corners[1], head, ""),),
    )
    return problem(
        f"AB = {a}, CD = {b}, and the distance of AB and CD is {h}.",
        "AB and CD are parallel. What is the area of the trapezoid ABCD?",
        Fraction((a + b) * h, 2),
        figure,
        NUMBER,
    )


def l_shape(rng: random.Random, level: int) -> Problem:
    """The area or the perimeter of a rectangle from which a corner is cut."""
    a, b = rng.randint(5, 15), rng.randint(5, 15)
    c, d = rng.randint(1, a - 2), rng.randint(1, b - 2)
    corners = (0, 0), (a, 0), (a, b - d), (a - c, b - d), (a - c, b), (0, b)
    p, q, _, s, t, u = corners
    lengths = (p, q, str(a)), (u, p, str(b)), (t, u, str(a - c)), (s, t, str(d))
    figure = Figure(polygons=(corners,), points=named("ABCDEF", *corners), lengths=lengths)
    what, answer = rng.choice((("area", a * b - c * d), ("perimeter", 2 * (a + b))))
    given = f"AB = {a}, FA = {b}, EF = {a - c} and DE = {d}."
    question = f"All sides of ABCDEF meet at right angles, and the corner D points inwards. What is the {what}?"
    return problem(given, question, answer, figure)


def ring(rng: random.Random, level: int) -> Problem:
    """The area between two circles with one centre."""
    inner = rng.randint(1, 8)
    outer = inner + rng.randint(1, 6)
    m, p, q = (0.0, 0.0), (float(outer), 0.0), (0.0, float(inner))
    figure = Figure(
        circles=((m, outer), (m, inner)),
        lines=((m, p), (m, q)),
        points=named("MPQ", m, p, q),
        lengths=((m, p, str(outer)), (m, q, str(inner))),
    )
    question = "P is on the larger and Q on the smaller of two circles around M. What is the exact area between them?"
    answer = f"{outer * outer - inner * inner}\\pi"
    return problem(f"MP = {outer} and MQ = {inner}.", question, answer, figure, EXPRESSION)


def shoelace(rng: random.Random, level: int) -> Problem:
    """The area of a polygon on a grid: a triangle, or a quadrilateral or pentagon at the hard level."""
    count = 3 if level == 1 else rng.randint(4, 5)
    while True:
        points = [(rng.randint(-5, 5), rng.randint(-5, 5)) for _ in range(count)]
        x, y = (sum(side) / count for side in zip(*points, strict=True))
        # In the order around their middle, and convex.
        points.sort(key=lambda point: atan2(point[1] - y, point[0] - x))
        if all(_turn(points[i - 2], points[i - 1], points[i]) > 0 for i in range(count)):
            break
    area = Fraction(abs(sum(x * v - u * y for (x, y), (u, v) in zip(points, points[1:] + points[:1], strict=True))), 2)
    names = "ABCDE"[: len(points)]
    origin = ((0.0, 0.0), (0.0, 0.0))
    figure = Figure(polygons=(tuple(points),), lines=(origin,), points=named(names, *points), grid=True)
    corners = [f"{name}({x}, {y})" for name, (x, y) in zip(names, points, strict=True)]
    given = f"The corners are {', '.join(corners[:-1])} and {corners[-1]}."
    return problem(given, f"What is the area of the polygon {names}?", area, figure, NUMBER)


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def area_from_sides(rng: random.Random, level: int) -> Problem:
    """Heron's formula."""
    return of_sides(rng, "area", "What is the area of the triangle ABC?", INTEGER)


def square_and_circle(rng: random.Random, level: int) -> Problem:
    """The part of a square outside its inscribed circle."""
    side = rng.randint(2, 40)
    corners = (0.0, 0.0), (float(side), 0.0), (float(side), float(side)), (0.0, float(side))
    figure = Figure(
        polygons=(corners,),
        circles=(((side / 2, side / 2), side / 2),),
        shaded=True,
        points=named("ABCD", *corners),
        lengths=((corners[0], corners[1], str(side)),),
    )
    quarter = Fraction(side * side, 4)
    circle = f"{quarter.numerator if quarter != 1 else ''}\\pi"
    below = f"/{quarter.denominator}" if quarter.denominator > 1 else ""
    return problem(
        f"AB = {side}.",
        "A circle touches all sides of the square ABCD. What is the exact area of the part of the square outside it?",
        f"{side * side} - {circle}{below}",
        figure,
        EXPRESSION,
    )
