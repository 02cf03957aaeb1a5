"""Problems about lengths."""

import random
from fractions import Fraction
from math import asin, atan2, cos, hypot, radians, sin

from gem_envs_math.figures import Figure
from gem_envs_math.geometry.shapes import TRIPLES, from_sides, named, of_sides, on_circle, problem, three_sides
from gem_envs_math.problem import NUMBER, Problem


def pythagoras(rng: random.Random, level: int) -> Problem:
    """A side of a right triangle."""
    a, b, c = rng.choice(TRIPLES)
    factor = rng.randint(1, 4)
    if rng.random() < 0.5:
        a, b = b, a
    legs = (a * factor, b * factor, c * factor)
    right, first, second = (0, 0), (legs[0], 0), (0, legs[1])
    sides = {"CA": (right, first, legs[0]), "CB": (right, second, legs[1]), "AB": (first, second, legs[2])}
    asked = rng.choice(sorted(sides))
    known = {name: side for name, side in sides.items() if name != asked}
    figure = Figure(
        polygons=((first, second, right),),
        points=named("ABC", first, second, right),
        lengths=tuple((start, end, str(size)) for start, end, size in known.values()),
        angles=((right, first, second, ""),),
    )
    given = " and ".join(f"{name} = {size}" for name, (_, _, size) in known.items())
    return problem(f"{given}.", f"The angle at C is right. How long is {asked}?", sides[asked][2], figure)


def similar_triangles(rng: random.Random, level: int) -> Problem:
    """The intercept theorem."""
    ad, db, ae = rng.randint(2, 12), rng.randint(2, 12), rng.randint(3, 14)
    ec = Fraction(ae * db, ad)
    share = ad / (ad + db)
    side, turn = float(ae + ec), rng.randint(40, 80)
    a, b, c = (0.0, 0.0), (float(ad + db), 0.0), on_circle(turn, side)
    d, e = (float(ad), 0.0), (c[0] * share, c[1] * share)
    lengths = (a, d, str(ad)), (d, b, str(db)), (a, e, str(ae))
    figure = Figure(polygons=((a, b, c),), lines=((d, e),), points=named("ABCDE", a, b, c, d, e), lengths=lengths)
    question = "D is on AB, E is on AC, and DE is parallel to BC. How long is EC?"
    return problem(f"AD = {ad}, DB = {db} and AE = {ae}.", question, ec, figure, NUMBER)


def intersecting_chords(rng: random.Random, level: int) -> Problem:
    """The power of a point inside a circle."""
    a, b, c = (rng.randint(2, 12) for _ in range(3))
    d = Fraction(a * b, c)
    turn = radians(rng.randint(60, 120))
    # The centre is above the middle of each chord.
    x = (a - b) / 2
    y = ((c - float(d)) / 2 - x * cos(turn)) / sin(turn)
    p, first, second = (0.0, 0.0), (float(a), 0.0), (-float(b), 0.0)
    third, fourth = (c * cos(turn), c * sin(turn)), (-float(d) * cos(turn), -float(d) * sin(turn))
    figure = Figure(
        circles=(((x, y), hypot(a - x, y)),),
        lines=((first, second), (third, fourth)),
        points=named("PABCD", p, first, second, third, fourth),
        lengths=((p, first, str(a)), (p, second, str(b)), (p, third, str(c))),
    )
    given = f"PA = {a}, PB = {b} and PC = {c}."
    return problem(given, "The chords AB and CD of a circle meet at P. How long is PD?", d, figure, NUMBER)


def tangent_and_secant(rng: random.Random, level: int) -> Problem:
    """The power of a point outside a circle."""
    m, n = sorted(rng.sample(range(1, 6), 2))
    k = rng.randint(1, 4)
    a, b, t = k * m * m, k * n * n, k * m * n
    x, y = (a + b) / 2, 0.3 * (b - a)
    radius = hypot((b - a) / 2, y)
    turn = atan2(y, x) + asin(radius / hypot(x, y))
    p, first, second, touch = (0.0, 0.0), (float(a), 0.0), (float(b), 0.0), (t * cos(turn), t * sin(turn))
    ends = {"PA": (first, a), "PB": (second, b), "PT": (touch, t)}
    asked = rng.choice(("PB", "PT"))
    known = {name: end for name, end in ends.items() if name != asked}
    figure = Figure(
        circles=(((x, y), radius),),
        lines=((p, second), (p, touch)),
        points=named("PABT", p, first, second, touch),
        lengths=tuple((p, end, f"{name} = {size}") for name, (end, size) in known.items()),
    )
    given = " and ".join(f"{name} = {size}" for name, (_, size) in known.items())
    question = "A line through P meets a circle first at A and then at B. Another line through P touches it at T."
    return problem(f"{given}.", f"{question} How long is {asked}?", ends[asked][1], figure)


def inscribed_circle(rng: random.Random, level: int) -> Problem:
    """The radius of the circle inside a triangle."""
    return of_sides(rng, "inner", "What is the radius of the circle that touches all sides of ABC?", NUMBER)


def circumscribed_circle(rng: random.Random, level: int) -> Problem:
    """The radius of the circle through the corners of a triangle."""
    return of_sides(rng, "outer", "What is the radius of the circle through A, B and C?", NUMBER)


def _with_point(rng: random.Random) -> tuple[int, int, int]:
    """Sides of a triangle that is not too thin."""
    b, c = rng.randint(5, 16), rng.randint(5, 16)
    return rng.randint(max(abs(b - c) + 2, 6), b + c - 2), b, c


def angle_bisector(rng: random.Random, level: int) -> Problem:
    """The parts of a side that an angle bisector divides."""
    a, b, c = _with_point(rng)
    corners = from_sides(a, b, c)
    given, lengths = three_sides(corners, a, b, c, "BC = ")
    answer, share = Fraction(a * c, b + c), c / (b + c)
    first, second, third = corners
    d = second[0] + share * (third[0] - second[0]), share * third[1]
    figure = Figure(polygons=(corners,), lines=((first, d),), points=named("ABCD", *corners, d), lengths=lengths)
    question = "D is on BC, and AD bisects the angle at A of the triangle ABC. How long is BD?"
    return problem(given, question, answer, figure, NUMBER)


def median(rng: random.Random, level: int) -> Problem:
    """The square of a median."""
    a, b, c = _with_point(rng)
    corners = from_sides(a, b, c)
    given, lengths = three_sides(corners, a, b, c, "BC = ")
    first, second, third = corners
    m = (second[0] + third[0]) / 2, third[1] / 2
    figure = Figure(polygons=(corners,), lines=((first, m),), points=named("ABCM", *corners, m), lengths=lengths)
    answer = Fraction(2 * b * b + 2 * c * c - a * a, 4)
    question = "M is the middle of the side BC of the triangle ABC. What is the square of the length of AM?"
    return problem(given, question, answer, figure, NUMBER)


def altitude(rng: random.Random, level: int) -> Problem:
    """The height on the hypotenuse."""
    a, b, c = rng.choice(TRIPLES)
    factor = rng.randint(1, 6)
    a, b, c = a * factor, b * factor, c * factor
    right, first, second = (0.0, 0.0), (float(b), 0.0), (0.0, float(a))
    foot = b * (a / c) ** 2, a * (b / c) ** 2
    figure = Figure(
        polygons=((first, second, right),),
        lines=((right, foot),),
        points=named("ABCH", first, second, right, foot),
        lengths=((right, first, str(b)), (right, second, str(a))),
        angles=((right, first, second, ""), (foot, first, right, "")),
    )
    question = "The angle at C of the triangle ABC is right, H is on AB, and CH is perpendicular to AB. How long is CH?"
    return problem(f"CA = {b} and CB = {a}.", question, Fraction(a * b, c), figure, NUMBER)
