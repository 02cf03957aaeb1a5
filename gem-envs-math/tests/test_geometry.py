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


def rectangle(text):
    a, b = given(text).values()
    return a * b if "area" in text else a + b + a + b


def third_angle(text):
    alpha, beta = integers(text)
    c = meeting((0, 0), alpha, (1, 0), 180 - beta)
    return angle(c, (0, 0), (1, 0))


def straight_angle(text):
    turn = radians(integers(text)[0])
    return angle((0, 0), (-1, 0), (cos(turn), sin(turn)))


def right_triangle(text):
    return polygon_area((0, 0), (given(text)["CA"], 0), (0, given(text)["CB"]))


def isosceles(text):
    known = integers(text)[0]
    if "at A has" in text:
        return angle(meeting((0, 0), known, (1, 0), 180 - known), (0, 0), (1, 0))
    return angle((1, 0), (0, 0), (cos(radians(known)), sin(radians(known))))


def parallelogram(text):
    a, h = integers(text)
    return polygon_area((0, 0), (a, 0), (a + 1.7, h), (1.7, h))


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
    sides = given(text)
    # The parallel to BC through D, along AC: AC is as much longer than AE as AB than AD.
    whole = sides["AE"] * (sides["AD"] + sides["DB"]) / sides["AD"]
    return whole - sides["AE"]


def inscribed_angle(text):
    known = integers(text)[0]
    central = known if "AMB has" in text else 2 * known
    a, b = ((cos(radians(turn)), sin(radians(turn))) for turn in (-90 - central / 2, -90 + central / 2))
    c = cos(1.4), sin(1.4)
    found = {"ACB": angle(c, a, b), "AMB": angle((0, 0), a, b)}
    asked = re.search(r"the angle (\w+)\?", text)[1]
    assert found["ACB" if asked == "AMB" else "AMB"] == pytest.approx(known)
    return found[asked]


def l_shape(text):
    sides = given(text)
    a, b, e, d = sides["AB"], sides["FA"], sides["EF"], sides["DE"]
    corners = (0, 0), (a, 0), (a, b - d), (e, b - d), (e, b), (0, b)
    if "area" in text:
        return polygon_area(*corners)
    return sum(dist(corners[i - 1], corners[i]) for i in range(6))


def exterior_angle(text):
    alpha, gamma = integers(text)
    b = meeting((0, 0), 0, (cos(radians(alpha)), sin(radians(alpha))), alpha + 180 + gamma)
    return angle(b, (cos(radians(alpha)), sin(radians(alpha))), (b[0] + 1, 0))


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
    """In a circle through A, B and C, for one angle between the chords: where the ray from C through P leaves it."""
    a, b, c = given(text).values()
    turn = radians(75)
    x, third = (a - b) / 2, (c * cos(turn), c * sin(turn))
    # The centre (x, y) is as far from A as from C.
    y = (third[0] ** 2 + third[1] ** 2 - 2 * x * third[0] + x**2 - (a - x) ** 2) / (2 * third[1])
    low, high = 0.0, 1000.0
    for _ in range(80):
        far = (low + high) / 2
        inside = dist((-far * cos(turn), -far * sin(turn)), (x, y)) < dist((a, 0), (x, y))
        low, high = (far, high) if inside else (low, far)
    return low


def tangent_and_secant(text):
    sides = given(text)
    if "PT" not in sides:
        a, b = sides["PA"], sides["PB"]
        return sqrt(dist((0, 0), ((a + b) / 2, 3)) ** 2 - dist((a, 0), ((a + b) / 2, 3)) ** 2)
    return sides["PT"] ** 2 / sides["PA"]


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
    return dist(b, d)


def median(text):
    a, b, c = from_sides(text)
    return dist(a, ((b[0] + c[0]) / 2, (b[1] + c[1]) / 2)) ** 2


def altitude(text):
    first, second = (given(text)["CA"], 0), (0, given(text)["CB"])
    steps = 20_000
    return min(dist((0, 0), (first[0] * step / steps, second[1] * (1 - step / steps))) for step in range(steps + 1))


def square_and_circle(text):
    """By columns of the corner between the square and a quarter of the circle."""
    half = given(text)["AB"] / 2
    columns = 20_000
    return 4 * sum(
        (half - sqrt(half**2 - (half * (step + 0.5) / columns) ** 2)) * half / columns for step in range(columns)
    )


def two_tangents(text):
    alpha = integers(text)[0]
    # The tangent at the point of the circle in the direction `turn` goes through P if P is 1/cos(turn) away.
    turn = radians(90 - alpha / 2)
    p, a, b = (1 / cos(turn), 0), (cos(turn), sin(turn)), (cos(turn), -sin(turn))
    assert angle(p, a, b) == pytest.approx(alpha)
    assert angle(a, p, (0, 0)) == pytest.approx(90)
    return angle((-cos(0.2), sin(0.2)), a, b)


SOLVERS = {"area_from_sides": lambda text: polygon_area(*from_sides(text))}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(Geometry), ids=ids)
def test_the_answer_is_what_measuring_gives(kind, level):
    for problem in draws(kind, level, 12):
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
