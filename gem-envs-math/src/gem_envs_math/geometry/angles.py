"""Problems about angles."""

import random
from math import cos, radians, sin

from gem_envs_math.counted import counted
from gem_envs_math.figures import Figure
from gem_envs_math.geometry.shapes import named, on_circle, problem, triangle
from gem_envs_math.problem import Problem


def third_angle(rng: random.Random, level: int) -> Problem:
    """The third angle of a triangle."""
    alpha, beta = rng.randint(25, 90), rng.randint(20, 65)
    a, b, c = triangle(alpha, beta)
    figure = Figure(
        polygons=((a, b, c),), points=named("ABC", a, b, c), angles=((a, b, c, str(alpha)), (b, a, c, str(beta)))
    )
    given = f"The angle at A has {alpha} degrees, the angle at B has {beta}."
    one, other = counted(alpha, beta)
    return problem(given, "How many degrees has the angle at C of the triangle ABC?", 180 - one - other, figure)


def on_a_line(rng: random.Random, level: int) -> Problem:
    """Three angles beside each other on a line, of which one is bisected."""
    alpha = rng.randint(20, 100)
    half = rng.randint(20, (160 - alpha) // 2)
    m, a, b = (0.0, 0.0), (-1.0, 0.0), (1.0, 0.0)
    c, d, e = on_circle(180 - alpha), on_circle(180 - alpha - half), on_circle(180 - alpha - 2 * half)
    figure = Figure(
        lines=((a, b), (m, c), (m, d), (m, e)),
        points=named("MABCDE", m, a, b, c, d, e),
        angles=((m, a, c, str(alpha)), (m, c, d, str(half))),
    )
    given = f"The angle AMC has {alpha} degrees, and the angle CMD has {half}."
    question = "M is on the line AB, and MD bisects the angle CME. How many degrees has the angle EMB?"
    one, other = counted(alpha, half)
    return problem(given, question, 180 - one - 2 * other, figure)


def isosceles(rng: random.Random, level: int) -> Problem:
    """An angle in an isosceles triangle that is divided."""
    base = rng.randint(25, 65)
    part = rng.randint(15, 165 - 2 * base)
    a, b, c = triangle(base, base)
    # D is where a line from C, turned by `part` from CA, meets AB.
    d = (c[0] * sin(radians(part)) / (cos(radians(base)) * sin(radians(base + part))), 0.0)
    figure = Figure(
        polygons=((a, b, c),),
        lines=((c, d),),
        points=named("ABCD", a, b, c, d),
        angles=((b, a, c, str(base)), (c, a, d, str(part))),
    )
    given = f"The angle at B has {base} degrees, and the angle ACD has {part}."
    question = "In the triangle ABC, CA and CB are equal. D is on AB. How many degrees has the angle DCB?"
    one, other = counted(base, part)
    return problem(given, question, 180 - 2 * one - other, figure)


def exterior_angle(rng: random.Random, level: int) -> Problem:
    """The bisector of an exterior angle of a triangle."""
    alpha, gamma = rng.randint(30, 80), rng.randint(30, 80)
    gamma += (alpha + gamma) % 2
    a, b, c = triangle(alpha, 180 - alpha - gamma)
    d, half = (1.6, 0.0), (alpha + gamma) / 2
    along = on_circle(half, 0.8)
    e = (1 + along[0], along[1])
    figure = Figure(
        polygons=((a, b, c),),
        lines=((b, d), (b, e)),
        points=named("ABCDE", a, b, c, d, e),
        angles=((a, b, c, str(alpha)), (c, a, b, str(gamma))),
    )
    given = f"In the triangle ABC, the angle at A has {alpha} degrees and the angle at C has {gamma}."
    question = "D is on the line AB beyond B, and BE bisects the angle CBD. How many degrees has the angle ABE?"
    one, other = counted(alpha, gamma)
    return problem(given, question, 180 - (one + other) / 2, figure)


def inscribed_angle(rng: random.Random, level: int) -> Problem:
    """Two angles over the same chord, and the triangle with one of them."""
    delta = rng.randint(30, 80)
    alpha = rng.randint(30, min(80, 140 - delta))
    # The arc from A to B that C and D do not lie on has twice the angle at D; that from B to C twice the angle at A.
    a, b, c = on_circle(-90 - delta), on_circle(delta - 90), on_circle(delta - 90 + 2 * alpha)
    d = on_circle(90 + alpha)
    figure = Figure(
        circles=(((0.0, 0.0), 1.0),),
        polygons=((a, b, c),),
        lines=((d, a), (d, b)),
        points=named("ABCD", a, b, c, d),
        angles=((d, a, b, str(delta)), (a, b, c, str(alpha))),
    )
    given = f"The angle ADB has {delta} degrees, and the angle CAB has {alpha}."
    question = "A, B, C and D are on a circle, C and D on the same side of AB. How many degrees has the angle ABC?"
    at_d, at_a = counted(delta, alpha)
    return problem(given, question, 180 - at_d - at_a, figure)


def two_tangents(rng: random.Random, level: int) -> Problem:
    """An angle between two tangents, and a triangle in the circle."""
    alpha = 2 * rng.randint(15, 50)
    at_c = 90 - alpha // 2
    beta = rng.randint(25, 150 - at_c)
    p = (1 / sin(radians(alpha / 2)), 0.0)
    a, b = on_circle(at_c), on_circle(-at_c)
    # The arc from B to C away from A has twice the angle at A.
    c = on_circle(-at_c - 2 * beta)
    figure = Figure(
        circles=(((0.0, 0.0), 1.0),),
        polygons=((a, b, c),),
        lines=((p, a), (p, b)),
        points=named("PABC", p, a, b, c),
        angles=((p, a, b, str(alpha)), (a, b, c, str(beta))),
    )
    question = (
        "PA and PB touch a circle at A and B. C is on the circle, on the other side of AB than P. "
        "How many degrees has the angle ABC?"
    )
    given = f"The angle APB has {alpha} degrees, and the angle CAB has {beta}."
    outside, at_a = counted(alpha, beta)
    return problem(given, question, 180 - (180 - outside) / 2 - at_a, figure)
