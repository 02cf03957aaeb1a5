"""`math:Geometry-v0`: answers are measured in coordinates; figures show what is given, to scale."""

import base64
import random
import re
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from math import acos, cos, degrees, dist, pi, radians, sin, sqrt

import pytest
from drawn_problems import cases, draws, ids, integers, real
from PIL import Image, ImageChops

import gem
from gem_envs_math.figures import png
from gem_envs_math.geometry.env import Geometry


def given(text):
    """The lengths of a text by name: `{"AB": 3}`."""
    return {name: int(size) for name, size in re.findall(r"\b([A-Z]{2}) = (\d+)", text)}


def angle(vertex, first, second):
    """In degrees."""
    arms = [(point[0] - vertex[0], point[1] - vertex[1]) for point in (first, second)]
    dot = arms[0][0] * arms[1][0] + arms[0][1] * arms[1][1]
    return degrees(acos(max(-1, min(1, dot / (dist(vertex, first) * dist(vertex, second))))))


def polygon_area(*corners):
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True))) / 2


def meeting(first, one, second, other):
    """Where rays from two points in two directions (in degrees) meet."""
    a, b, c, d = cos(radians(one)), -cos(radians(other)), sin(radians(one)), -sin(radians(other))
    x, y = second[0] - first[0], second[1] - first[1]
    along = (x * d - b * y) / (a * d - b * c)
    return first[0] + along * a, first[1] + along * c


def from_sides(text):
    """The corners A, B and C; C is found by walking around A until it is as far from B as it should be."""
    sides = given(text)
    low, high = 0.0, pi
    for _ in range(60):
        turn = (low + high) / 2
        c = sides["CA"] * cos(turn), sides["CA"] * sin(turn)
        low, high = (turn, high) if dist(c, (sides["AB"], 0)) < sides["BC"] else (low, turn)
    return (0, 0), (sides["AB"], 0), c


def frame(text):
    a, b, width = integers(text)
    outer = (0, 0), (a, 0), (a, b), (0, b)
    inner = (width, width), (a - width, width), (a - width, b - width), (width, b - width)
    if "perimeter" in text:
        return sum(dist(inner[i - 1], inner[i]) for i in range(4))
    return polygon_area(*outer) - polygon_area(*inner)


def third_angle(text):
    alpha, beta = integers(text)
    c = meeting((0, 0), alpha, (1, 0), 180 - beta)
    return angle(c, (0, 0), (1, 0))


def on_a_line(text):
    alpha, half = integers(text)
    c, d = alpha, alpha + half
    e = next(turn for turn in range(d, 181) if abs((turn - d) - (d - c)) < 1e-9)
    return angle((0, 0), (cos(radians(e)), sin(radians(e))), (-1, 0))


def right_triangle(text):
    return polygon_area((0, 0), (given(text)["CA"], 0), (0, given(text)["CB"]))


def isosceles(text):
    base, part = integers(text)
    c = meeting((0, 0), base, (1, 0), 180 - base)
    d = meeting(c, base + 180 + part, (0, 0), 0)
    assert 0 < d[0] < 1
    return angle(c, d, (1, 0))


def parallelogram(text):
    a, side, h = integers(text)
    lean = sqrt(side**2 - h**2)
    # How far A is from the line BC.
    return abs(a * h) / dist((a, 0), (a + lean, h))


def pythagoras(text):
    sides = given(text)
    if "AB" not in sides:
        return dist((sides["CA"], 0), (0, sides["CB"]))
    leg = next(sides[name] for name in ("CA", "CB") if name in sides)
    return sqrt(sides["AB"] ** 2 - leg**2)


def trapezoid(text):
    a, b, h = integers(text)
    return polygon_area((0, 0), (a, 0), (b + 0.3, h), (0.3, h))


def similar_triangles(text):
    """Measured where the parallel through B meets the ray AE."""
    sides = given(text)
    a, d, b = (0, 0), (sides["AD"], 0), (sides["AD"] + sides["DB"], 0)
    known = sides.get("AE") or sides["DE"]
    e = (known * cos(1.1), known * sin(1.1)) if "AE" in sides else (d[0] - known * cos(1.1), known * sin(1.1))
    along = degrees(acos((e[0] - d[0]) / dist(d, e)))
    c = meeting(a, degrees(acos(e[0] / dist(a, e))), b, along)
    return dist(e, c) if "AE" in sides else dist(b, c)


def inscribed_angle(text):
    """D lies anywhere above AB, and C where the angle at A is right."""
    delta, alpha = integers(text)
    a, b = ((cos(radians(turn)), sin(radians(turn))) for turn in (-90 - delta, delta - 90))
    for turn in (80, 100, 120):
        assert angle((cos(radians(turn)), sin(radians(turn))), a, b) == pytest.approx(delta)
    low, high = delta - 90, 270 - delta
    for _ in range(60):
        turn = (low + high) / 2
        c = cos(radians(turn)), sin(radians(turn))
        low, high = (turn, high) if angle(a, b, c) < alpha else (low, turn)
    return angle(b, a, c)


def l_shape(text):
    sides = given(text)
    a, b, e, d = sides["AB"], sides["FA"], sides["EF"], sides["DE"]
    corners = (0, 0), (a, 0), (a, b - d), (e, b - d), (e, b), (0, b)
    if "area" in text:
        return polygon_area(*corners)
    return sum(dist(corners[i - 1], corners[i]) for i in range(6))


def exterior_angle(text):
    alpha, gamma = integers(text)
    c = cos(radians(alpha)), sin(radians(alpha))
    b = meeting((0, 0), 0, c, alpha + 180 + gamma)
    low, high = 0.0, angle(b, c, (b[0] + 1, 0))
    turn = radians((low + high) / 2)
    e = b[0] + cos(turn), b[1] + sin(turn)
    assert angle(b, e, c) == pytest.approx(angle(b, e, (b[0] + 1, 0)))
    return angle(b, (0, 0), e)


def ring(text):
    """Counted in narrow rings."""
    sides = given(text)
    width = (sides["MP"] - sides["MQ"]) / 1000
    return sum(2 * pi * (sides["MQ"] + width * (step + 0.5)) * width for step in range(1000))


def shoelace(text):
    """Half the points on the border and those inside, minus one: Pick's theorem."""
    corners = [(int(x), int(y)) for x, y in re.findall(r"[A-E]\((-?\d+), (-?\d+)\)", text)]
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    inside = border = 0
    for x in range(-5, 6):
        for y in range(-5, 6):
            turns = [(u - p) * (y - q) - (v - q) * (x - p) for (p, q), (u, v) in edges]
            inside += all(turn > 0 for turn in turns) or all(turn < 0 for turn in turns)
            border += 0 in turns and (all(turn >= 0 for turn in turns) or all(turn <= 0 for turn in turns))
    return inside + Fraction(border, 2) - 1


def intersecting_chords(text):
    """In a circle around (0, 0): the middle of a chord of the length CD has a known distance from the centre."""
    a, b, whole = given(text).values()
    # In the circle around (0, 0) with the radius r, P is (x, y) with AB level; r may be any that is large enough.
    r = 1.1 * max(a + b, whole) / 2
    x, y = (a - b) / 2, sqrt(r * r - ((a + b) / 2) ** 2)
    inner = sqrt(r * r - (whole / 2) ** 2)
    along = sqrt(dist((0, 0), (x, y)) ** 2 - inner**2)
    return whole / 2 - along


def tangent_and_secant(text):
    """In a circle with this chord, at the distance at which the tangent is as long as it should be."""
    chord, tangent = given(text).values()
    low, high = 0.0, 1e6
    for _ in range(80):
        near = (low + high) / 2
        # The centre is 3 above the chord.
        length = sqrt((near + chord / 2) ** 2 + 9 - (9 + (chord / 2) ** 2))
        low, high = (near, high) if length < tangent else (low, near)
    return low if "is PA" in text else low + chord


def inscribed_circle(text):
    a, b, c = from_sides(text)
    weights = dist(b, c), dist(c, a), dist(a, b)
    middle = [
        sum(w * point[axis] for w, point in zip(weights, (a, b, c), strict=True)) / sum(weights) for axis in (0, 1)
    ]
    radii = [2 * polygon_area(middle, p, q) / dist(p, q) for p, q in ((a, b), (b, c), (c, a))]
    assert max(radii) == pytest.approx(min(radii))
    return radii[0]


def circumscribed_circle(text):
    a, b, c = from_sides(text)
    x = b[0] / 2
    y = (c[0] ** 2 + c[1] ** 2 - 2 * x * c[0]) / (2 * c[1])
    assert dist((x, y), c) == pytest.approx(dist((x, y), a)) == pytest.approx(dist((x, y), b))
    return dist((x, y), a)


def angle_bisector(text):
    a, b, c = from_sides(text)
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        d = [b[axis] + share * (c[axis] - b[axis]) for axis in (0, 1)]
        low, high = (share, high) if angle(a, b, d) < angle(a, d, c) else (low, share)
    return dist(a, d) ** 2


def median(text):
    a, b, c = from_sides(text)
    return dist(a, ((b[0] + c[0]) / 2, (b[1] + c[1]) / 2)) ** 2


def altitude(text):
    """H is where C is nearest to AB."""
    first, second = (given(text)["CA"], 0), (0, given(text)["CB"])
    low, high = 0.0, 1.0
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        near, far = (dist((0, 0), (first[0] * (1 - at), second[1] * at)) for at in (left, right))
        low, high = (low, right) if near < far else (left, high)
    h = first[0] * (1 - low), second[1] * low
    return dist(h, {"CH": (0, 0), "AH": first, "BH": second}[re.search(r"long is (\w+)", text)[1]])


def law_of_cosines(text):
    sides, gamma = given(text), integers(text)[2]
    turn = radians(gamma)
    return dist((sides["CA"], 0), (sides["CB"] * cos(turn), sides["CB"] * sin(turn))) ** 2


def rectangle_and_circle(text):
    """By columns: what the circle leaves of the rectangle."""
    long, short = given(text)["AB"], given(text)["BC"]
    columns, radius = 20_000, short / 2
    inside = sum(2 * sqrt(radius**2 - (radius * (2 * (step + 0.5) / columns - 1)) ** 2) for step in range(columns))
    return long * short - inside * short / columns


def two_tangents(text):
    alpha, beta = integers(text)
    # The tangent at the point of the circle in the direction `turn` goes through P if P is 1/cos(turn) away.
    turn = radians(90 - alpha / 2)
    p, a, b = (1 / cos(turn), 0), (cos(turn), sin(turn)), (cos(turn), -sin(turn))
    assert angle(p, a, b) == pytest.approx(alpha)
    low, high = turn, 2 * pi - turn
    for _ in range(60):  # C moves from A to B until the angle at A is right
        middle = (low + high) / 2
        c = cos(middle), sin(middle)
        low, high = (middle, high) if angle(a, c, b) > beta else (low, middle)
    return angle(b, a, c)


SOLVERS = {"area_from_sides": lambda text: polygon_area(*from_sides(text))}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(Geometry), ids=ids)
def test_the_answer_is_what_measuring_gives(kind, level):
    for problem in draws(kind, level, 20):
        found = solver_of(kind)(f"{problem.given} {problem.question}")
        assert float(found) == pytest.approx(real(problem.answer), rel=1e-5), problem


@pytest.mark.parametrize(("kind", "level"), cases(Geometry), ids=ids)
def test_figures_show_what_is_given_to_scale(kind, level):
    for problem in draws(kind, level, 12):
        figure = problem.figure
        labels = [int(text.split()[-1]) for *_, text in (*figure.lengths, *figure.angles) if text]
        if figure.grid:
            names = [f"{name}({x}, {y})" for (x, y), name in figure.points]
            assert all(name in problem.given for name in names)
        else:
            assert sorted(labels) == sorted(integers(problem.given)), problem
        scales = [dist(start, end) / int(text.split()[-1]) for start, end, text in figure.lengths]
        assert scales == pytest.approx(scales[:1] * len(scales))
        for vertex, first, second, text in figure.angles:
            assert angle(vertex, first, second) == pytest.approx(float(text or 90))


@pytest.mark.parametrize(("kind", "level"), cases(Geometry), ids=ids)
def test_the_figure_does_not_show_the_answer(kind, level):
    for problem in draws(kind, level, 12):
        shown = {text for *_, text in (*problem.figure.lengths, *problem.figure.angles)}
        assert problem.answer not in shown or problem.answer in re.findall(r"\d+", problem.given), problem


def test_a_drawn_question_is_an_image_and_a_text_without_the_measures():
    drawn, described = gem.make("math:Geometry-v0-drawn"), gem.make("math:Geometry-v0")
    for seed in range(6):
        (picture, text), _ = drawn.reset(seed=seed)
        words, _ = described.reset(seed=seed)
        start, encoded = picture["image_url"]["url"].split(",")
        image = Image.open(BytesIO(base64.b64decode(encoded)))
        assert (start, image.format) == ("data:image/png;base64", "PNG")
        assert 0 < min(image.size) <= max(image.size) <= 420
        assert image.histogram()[0] > 100
        assert described.problem.given in words
        assert described.problem.given not in text["text"]
        assert drawn.step(drawn.expert_action()).info["success"]


def test_a_figure_is_drawn_alike_each_time_and_differently_for_other_numbers():
    kind = Geometry.levels["medium"][2]
    images = [png(kind(random.Random(seed), 1).figure) for seed in (1, 1, 2)]
    assert images[0] == images[1] != images[2]


@pytest.mark.parametrize(("kind", "level"), cases(Geometry), ids=ids)
def test_labels_cover_no_lines(kind, level):
    for problem in draws(kind, level, 3):
        figure = problem.figure
        bare = replace(figure, lengths=(), points=tuple((point, "") for point, _ in figure.points))
        before, after = (Image.open(BytesIO(png(each))) for each in (bare, figure))
        was_dark, is_white = before.point([255] * 90 + [0] * 166), after.point([0] * 200 + [255] * 56)
        assert ImageChops.darker(was_dark, is_white).histogram()[255] < 12, problem
