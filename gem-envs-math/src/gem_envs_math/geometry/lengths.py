"""Problems about lengths."""

import random
from fractions import Fraction
from math import asin, atan2, cos, hypot, radians, sin

from gem_envs_math.counted import counted, root
from gem_envs_math.figures import Figure
from gem_envs_math.geometry.shapes import TRIPLES, from_sides, named, of_sides, on_circle, problem, three_sides
from gem_envs_math.problem import NUMBER, Problem


def pythagoras(rng: random.Random, level: int) -> Problem:
    """A side of a right triangle."""
    a, b, c = rng.choice(TRIPLES)
    factor = rng.randint(1, 9)
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
    one, other = counted(*(size for _, _, size in known.values()))
    square = one**2 + other**2 if asked == "AB" else other**2 - one**2
    return problem(f"{given}.", f"The angle at C is right. How long is {asked}?", root(square) or square, figure)


def similar_triangles(rng: random.Random, level: int) -> Problem:
    """The intercept theorem, for a side or for the parallels."""
    ad, db, last = rng.randint(2, 12), rng.randint(2, 12), rng.randint(3, 14)
    share, turn = ad / (ad + db), rng.randint(40, 80)
    asks_parallel = rng.random() < 0.5
    a, b = (0.0, 0.0), (float(ad + db), 0.0)
    c = on_circle(turn, last / share)
    if asks_parallel:
        # BC is as long as DE makes it; C is on the ray from A.
        turn = 180 - turn
        away = on_circle(turn, last / share)
        c = (b[0] + away[0], away[1])
    d, e = (float(ad), 0.0), (c[0] * share, c[1] * share)
    lengths = (a, d, str(ad)), (d, b, str(db)), (d, e, str(last)) if asks_parallel else (a, e, str(last))
    figure = Figure(polygons=((a, b, c),), lines=((d, e),), points=named("ABCDE", a, b, c, d, e), lengths=lengths)
    asked, known = ("BC", "DE") if asks_parallel else ("EC", "AE")
    p, q, r = counted(ad, db, last)
    answer = r * (p + q) / p if asks_parallel else r * q / p
    question = f"D is on AB, E is on AC, and DE is parallel to BC. How long is {asked}?"
    return problem(f"AD = {ad}, DB = {db} and {known} = {last}.", question, answer, figure, NUMBER)


def intersecting_chords(rng: random.Random, level: int) -> Problem:
    """The power of a point inside a circle, and a quadratic equation."""
    while True:
        a, b, c = rng.randint(3, 20), rng.randint(3, 20), rng.randint(3, 12)
        if a * b % c == 0 and c * c < a * b:
            break
    d = a * b // c
    turn = radians(rng.randint(60, 120))
    # The centre is above the middle of each chord.
    x = (a - b) / 2
    y = ((c - d) / 2 - x * cos(turn)) / sin(turn)
    p, first, second = (0.0, 0.0), (float(a), 0.0), (-float(b), 0.0)
    third, fourth = (c * cos(turn), c * sin(turn)), (-d * cos(turn), -d * sin(turn))
    figure = Figure(
        circles=(((x, y), hypot(a - x, y)),),
        lines=((first, second), (third, fourth)),
        points=named("PABCD", p, first, second, third, fourth),
        lengths=((p, first, str(a)), (p, second, str(b)), (third, fourth, f"CD = {c + d}")),
    )
    given = f"PA = {a}, PB = {b} and CD = {c + d}."
    question = "The chords AB and CD of a circle meet at P, which is nearer to C than to D. How long is PC?"
    one, other, whole = counted(a, b, c + d)
    side = root(whole**2 - 4 * (one * other)) or Fraction(0)
    return problem(given, question, (whole - side) / 2, figure)


def tangent_and_secant(rng: random.Random, level: int) -> Problem:
    """The power of a point outside a circle, and a quadratic equation."""
    m, n = sorted(rng.sample(range(1, 8), 2))
    k = rng.randint(1, 9)
    a, b, t = k * m * m, k * n * n, k * m * n
    x, y = (a + b) / 2, 0.3 * (b - a)
    radius = hypot((b - a) / 2, y)
    turn = atan2(y, x) + asin(radius / hypot(x, y))
    p, first, second, touch = (0.0, 0.0), (float(a), 0.0), (float(b), 0.0), (t * cos(turn), t * sin(turn))
    figure = Figure(
        circles=(((x, y), radius),),
        lines=((p, second), (p, touch)),
        points=named("PABT", p, first, second, touch),
        lengths=((first, second, str(b - a)), (p, touch, str(t))),
    )
    chord, tangent = counted(b - a, t)
    which = rng.choice(("PA", "PB"))
    side = root(chord**2 + 4 * tangent**2) or Fraction(0)
    question = "A line through P meets a circle first at A and then at B. Another line through P touches it at T."
    answer = (side - chord) / 2 if which == "PA" else (side + chord) / 2
    return problem(f"AB = {b - a} and PT = {t}.", f"{question} How long is {which}?", answer, figure)


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
    """The square of an angle bisector: how it divides the side, and Stewart's theorem."""
    a, b, c = _with_point(rng)
    corners = from_sides(a, b, c)
    given, lengths = three_sides(corners, a, b, c, "BC = ")
    share = c / (b + c)
    first, second, third = corners
    d = second[0] + share * (third[0] - second[0]), share * third[1]
    figure = Figure(polygons=(corners,), lines=((first, d),), points=named("ABCD", *corners, d), lengths=lengths)
    question = "D is on BC, and AD bisects the angle at A of the triangle ABC. What is the square of the length of AD?"
    p, q, r = counted(a, b, c)
    part = p * r / (q + r)
    return problem(given, question, q * r - part * (p - part), figure, NUMBER)


def median(rng: random.Random, level: int) -> Problem:
    """The square of a median."""
    a, b, c = _with_point(rng)
    corners = from_sides(a, b, c)
    given, lengths = three_sides(corners, a, b, c, "BC = ")
    first, second, third = corners
    m = (second[0] + third[0]) / 2, third[1] / 2
    figure = Figure(polygons=(corners,), lines=((first, m),), points=named("ABCM", *corners, m), lengths=lengths)
    p, q, r = counted(a, b, c)
    answer = (2 * q**2 + 2 * r**2 - p**2) / 4
    question = "M is the middle of the side BC of the triangle ABC. What is the square of the length of AM?"
    return problem(given, question, answer, figure, NUMBER)


def altitude(rng: random.Random, level: int) -> Problem:
    """The height on the hypotenuse, or the parts into which it divides that."""
    a, b, c = rng.choice(TRIPLES)
    factor = rng.randint(1, 6)
    a, b, c = a * factor, b * factor, c * factor
    if rng.random() < 0.5:
        a, b = b, a
    right, first, second = (0.0, 0.0), (float(b), 0.0), (0.0, float(a))
    foot = b * (a / c) ** 2, a * (b / c) ** 2
    figure = Figure(
        polygons=((first, second, right),),
        lines=((right, foot),),
        points=named("ABCH", first, second, right, foot),
        lengths=((right, first, str(b)), (right, second, str(a))),
        angles=((right, first, second, ""), (foot, first, right, "")),
    )
    p, q = counted(a, b)
    whole = root(p**2 + q**2) or Fraction(1)
    asked, answer = rng.choice(
        (("CH", lambda: p * q / whole), ("AH", lambda: q**2 / whole), ("BH", lambda: p**2 / whole))
    )
    question = "The angle at C of the triangle ABC is right, H is on AB, and CH is perpendicular to AB."
    return problem(f"CA = {b} and CB = {a}.", f"{question} How long is {asked}?", answer(), figure, NUMBER)


def law_of_cosines(rng: random.Random, level: int) -> Problem:
    """The square of the third side, from two sides and an angle whose cosine is known."""
    a, b, gamma = rng.randint(3, 25), rng.randint(3, 25), rng.choice((60, 120))
    right, first, second = (0.0, 0.0), (float(b), 0.0), on_circle(gamma, a)
    figure = Figure(
        polygons=((first, second, right),),
        points=named("ABC", first, second, right),
        lengths=((right, first, str(b)), (right, second, str(a))),
        angles=((right, first, second, str(gamma)),),
    )
    p, q = counted(a, b)
    given = f"CA = {b}, CB = {a}, and the angle at C has {gamma} degrees."
    answer = p**2 + q**2 - (p * q if gamma == 60 else -p * q)
    return problem(given, "What is the square of the length of the side AB of the triangle ABC?", answer, figure)
