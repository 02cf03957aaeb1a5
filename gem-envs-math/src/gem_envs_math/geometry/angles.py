"""Problems about angles."""

import random
from math import radians, sin
from typing import Any

from gem_envs_math.figures import Figure
from gem_envs_math.geometry.shapes import named, on_circle, problem, triangle
from gem_envs_math.problem import Problem


def third_angle(rng: random.Random, level: int) -> Problem:
    """The third angle of a triangle."""
    alpha, beta = 5 * rng.randint(5, 18), 5 * rng.randint(4, 13)
    a, b, c = triangle(alpha, beta)
    figure = Figure(
        polygons=((a, b, c),), points=named("ABC", a, b, c), angles=((a, b, c, str(alpha)), (b, a, c, str(beta)))
    )
    given = f"The angle at A has {alpha} degrees, the angle at B has {beta}."
    return problem(given, "How many degrees has the angle at C of the triangle ABC?", 180 - alpha - beta, figure)


def straight_angle(rng: random.Random, level: int) -> Problem:
    """Two angles beside each other on a line."""
    alpha = 5 * rng.randint(4, 32)
    m, a, b, c = (0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), on_circle(alpha)
    figure = Figure(lines=((a, b), (m, c)), points=named("MABC", m, a, b, c), angles=((m, a, c, str(alpha)),))
    question = "M is on the line AB. How many degrees has the angle BMC?"
    return problem(f"The angle AMC has {alpha} degrees.", question, 180 - alpha, figure)


def isosceles(rng: random.Random, level: int) -> Problem:
    """An angle of an isosceles triangle."""
    base = 5 * rng.randint(5, 16)
    a, b, c = triangle(base, base)
    top = 180 - 2 * base
    known, asked, vertex, arms, answer = rng.choice(((base, "C", a, (b, c), top), (top, "A", c, (a, b), base)))
    where = "A" if asked == "C" else "C"
    figure = Figure(polygons=((a, b, c),), points=named("ABC", a, b, c), angles=((vertex, *arms, str(known)),))
    return problem(
        f"The angle at {where} has {known} degrees.",
        f"In the triangle ABC, CA and CB are equal. How many degrees has the angle at {asked}?",
        answer,
        figure,
    )


def exterior_angle(rng: random.Random, level: int) -> Problem:
    """An exterior angle of a triangle."""
    alpha, gamma = rng.randint(30, 80), rng.randint(30, 80)
    a, b, c = triangle(alpha, 180 - alpha - gamma)
    d = (1.5, 0.0)
    known = (a, b, c, str(alpha)), (c, a, b, str(gamma))
    figure = Figure(polygons=((a, b, c),), lines=((b, d),), points=named("ABCD", a, b, c, d), angles=known)
    given = f"In the triangle ABC, the angle at A has {alpha} degrees and the angle at C has {gamma}."
    question = "D is on the line AB beyond B. How many degrees has the angle CBD?"
    return problem(given, question, alpha + gamma, figure)


def inscribed_angle(rng: random.Random, level: int) -> Problem:
    """The inscribed angle and the central angle of a chord."""
    inscribed = rng.randint(20, 80)
    a, b, c = on_circle(-90 - inscribed), on_circle(-90 + inscribed), on_circle(90 + rng.randint(-30, 30))
    m = (0.0, 0.0)
    central = 2 * inscribed
    picture: dict[str, Any] = {"circles": ((m, 1.0),), "lines": ((m, a), (m, b), (c, a), (c, b))}
    names = named("MABC", m, a, b, c)
    question = "A circle around M goes through A, B and C. M and C are on the same side of AB. How many degrees has"
    if rng.random() < 0.5:
        figure = Figure(**picture, points=names, angles=((m, a, b, str(central)),))
        return problem(f"The angle AMB has {central} degrees.", f"{question} the angle ACB?", inscribed, figure)
    figure = Figure(**picture, points=names, angles=((c, a, b, str(inscribed)),))
    return problem(f"The angle ACB has {inscribed} degrees.", f"{question} the angle AMB?", central, figure)


def two_tangents(rng: random.Random, level: int) -> Problem:
    """The angle of two tangents, and an inscribed angle."""
    alpha = 2 * rng.randint(15, 50)
    m, p = (0.0, 0.0), (1 / sin(radians(alpha / 2)), 0.0)
    a, b, c = on_circle(90 - alpha / 2), on_circle(alpha / 2 - 90), on_circle(180 + rng.randint(-25, 25))
    figure = Figure(
        circles=((m, 1.0),),
        lines=((p, a), (p, b), (c, a), (c, b)),
        points=named("PABC", p, a, b, c),
        angles=((p, a, b, str(alpha)),),
    )
    question = (
        "PA and PB touch a circle at A and B. C is on the circle, on the other side of AB than P. "
        "How many degrees has the angle ACB?"
    )
    return problem(f"The angle APB has {alpha} degrees.", question, 90 - alpha // 2, figure)
