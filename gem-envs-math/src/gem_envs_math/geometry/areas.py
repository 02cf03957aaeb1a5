"""Problems about areas and perimeters."""

import random
from math import atan2, sqrt

from gem_envs_math.counted import counted
from gem_envs_math.figures import Figure, Point
from gem_envs_math.geometry.shapes import named, of_sides, problem
from gem_envs_math.notation import quotient, total
from gem_envs_math.problem import EXPRESSION, INTEGER, NUMBER, Problem


def frame(rng: random.Random, level: int) -> Problem:
    """The area of a frame, or the perimeter of what it frames."""
    width = rng.randint(1, 5)
    a, b = 2 * width + rng.randint(3, 25), 2 * width + rng.randint(3, 25)
    corners = (0, 0), (a, 0), (a, b), (0, b)
    inner = (width, width), (a - width, width), (a - width, b - width), (width, b - width)
    middle = (a / 2, 0.0), (a / 2, float(width))
    lengths = (corners[0], corners[1], str(a)), (corners[1], corners[2], str(b)), (*middle, str(width))
    figure = Figure(
        polygons=(corners, inner), lines=(middle,), points=named("ABCDPQRS", *corners, *inner), lengths=lengths
    )
    p, q, side = counted(a, b, width)
    what, answer = rng.choice(
        (
            ("area between the two", lambda: p * q - (p - 2 * side) * (q - 2 * side)),
            ("perimeter of PQRS", lambda: 2 * (p - 2 * side + q - 2 * side)),
        )
    )
    return problem(
        f"AB = {a}, BC = {b}, and the distance is {width}.",
        "The rectangle PQRS lies in the rectangle ABCD, everywhere at the same distance from its sides. What is the "
        f"{what}?",
        answer(),
        figure,
    )


def right_triangle(rng: random.Random, level: int) -> Problem:
    """The area of a right triangle."""
    a, b = 2 * rng.randint(2, 15), rng.randint(3, 30)
    c, points = (0, 0), ((a, 0), (0, b))
    figure = Figure(
        polygons=((*points, c),),
        points=named("ABC", *points, c),
        lengths=((c, points[0], str(a)), (c, points[1], str(b))),
        angles=((c, *points, ""),),
    )
    p, q = counted(a, b)
    return problem(
        f"CA = {a} and CB = {b}.", "The angle at C is right. What is the area of the triangle ABC?", p * q / 2, figure
    )


def parallelogram(rng: random.Random, level: int) -> Problem:
    """The other height of a parallelogram, by its area."""
    while True:
        a, side, h = rng.randint(6, 60), rng.randint(5, 40), rng.randint(4, 36)
        lean = sqrt(max(side * side - h * h, 0))
        if 0 < lean < a - 1 and a * h % side == 0 and a != side:
            break
    corners = (0.0, 0.0), (float(a), 0.0), (a + lean, float(h)), (lean, float(h))
    foot = (lean, 0.0)
    figure = Figure(
        polygons=(corners,),
        lines=((corners[3], foot),),
        points=named("ABCD", *corners),
        lengths=((corners[0], corners[1], str(a)), (corners[1], corners[2], str(side)), (corners[3], foot, str(h))),
        angles=((foot, corners[1], corners[3], ""),),
    )
    p, q, height = counted(a, side, h)
    return problem(
        f"AB = {a}, BC = {side}, and the distance of AB and CD is {h}.",
        "What is the distance of the parallel sides BC and DA of the parallelogram ABCD?",
        p * height / q,
        figure,
    )


def trapezoid(rng: random.Random, level: int) -> Problem:
    """The area of a trapezoid."""
    a, b, h = rng.randint(6, 25), rng.randint(2, 20), rng.randint(3, 15)
    lean = rng.randint(0, 3)
    corners = (0, 0), (a, 0), (lean + b, h), (lean, h)
    # Somewhere above AB and below CD.
    middle = (lean + min(a, lean + b)) / 2
    foot, head = (middle, 0), (middle, h)
    figure = Figure(
        polygons=(corners,),
        lines=((head, foot),),
        points=named("ABCD", *corners),
        lengths=((corners[0], corners[1], str(a)), (corners[2], corners[3], str(b)), (head, foot, str(h))),
        angles=((foot, corners[1], head, ""),),
    )
    p, q, height = counted(a, b, h)
    return problem(
        f"AB = {a}, CD = {b}, and the distance of AB and CD is {h}.",
        "AB and CD are parallel. What is the area of the trapezoid ABCD?",
        (p + q) * height / 2,
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
    w, x, y, z = counted(a, b, a - c, d)
    what, answer = rng.choice((("area", lambda: w * x - (w - y) * z), ("perimeter", lambda: 2 * (w + x))))
    given = f"AB = {a}, FA = {b}, EF = {a - c} and DE = {d}."
    question = f"All sides of ABCDEF meet at right angles, and the corner D points inwards. What is the {what}?"
    return problem(given, question, answer(), figure)


def ring(rng: random.Random, level: int) -> Problem:
    """The area between two circles with one centre."""
    inner = rng.randint(1, 25)
    outer = inner + rng.randint(1, 25)
    m, p, q = (0.0, 0.0), (float(outer), 0.0), (0.0, float(inner))
    figure = Figure(
        circles=((m, outer), (m, inner)),
        lines=((m, p), (m, q)),
        points=named("MPQ", m, p, q),
        lengths=((m, p, str(outer)), (m, q, str(inner))),
    )
    question = "P is on the larger and Q on the smaller of two circles around M. What is the exact area between them?"
    large, small = counted(outer, inner)
    factor = large**2 - small**2
    text = total([(factor, "\\pi")])
    return problem(f"MP = {outer} and MQ = {inner}.", question, factor, figure, EXPRESSION, text)


def shoelace(rng: random.Random, level: int) -> Problem:
    """The area of a polygon on a grid: a triangle, or a quadrilateral or pentagon at the hard level."""
    count = 3 if level == 1 else rng.randint(4, 5)
    while True:
        points = [(rng.randint(-5, 5), rng.randint(-5, 5)) for _ in range(count)]
        x, y = (sum(side) / count for side in zip(*points, strict=True))
        # In the order around their middle, and convex.
        points.sort(key=lambda point: atan2(point[1] - y, point[0] - x))
        if all(_turn(points[i - 2], points[i - 1], points[i]) > 2 for i in range(count)):
            break
    flat = counted(*(coordinate for point in points for coordinate in point))
    exact = list(zip(flat[::2], flat[1::2], strict=True))
    turns = [x * v - u * y for (x, y), (u, v) in zip(exact, exact[1:] + exact[:1], strict=True)]
    area = abs(sum(turns[1:], start=turns[0])) / 2
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


def rectangle_and_circle(rng: random.Random, level: int) -> Problem:
    """The part of a rectangle outside a circle that touches three sides."""
    short = rng.randint(2, 20)
    long = short + rng.randint(1, 20)
    radius = short / 2
    corners = (0.0, 0.0), (float(long), 0.0), (float(long), float(short)), (0.0, float(short))
    figure = Figure(
        polygons=(corners,),
        circles=(((radius, radius), radius),),
        shaded=True,
        points=named("ABCD", *corners),
        lengths=((corners[0], corners[1], str(long)), (corners[1], corners[2], str(short))),
    )
    a, b = counted(long, short)
    whole, inside = a * b, (b / 2) ** 2
    return problem(
        f"AB = {long} and BC = {short}.",
        "A circle touches the sides AB, CD and DA of the rectangle ABCD. What is the exact area of the part of the "
        "rectangle outside it?",
        inside,
        figure,
        EXPRESSION,
        quotient([(whole, ""), (-inside, "\\pi")]),
    )
