"""`math:Calculus-v0`: every answer is checked by numbers: difference quotients, Simpson's rule, partial sums."""

import cmath
import math
import re
from itertools import pairwise

import pytest
from drawn_problems import cases, draws, formula, ids, integers, numbers, real

from gem_envs_math.calculus.env import Calculus


def slope_of(function, x, order=1, step=1e-3):
    """A derivative by central differences, extrapolated."""
    if order > 1:
        return slope_of(lambda at: slope_of(function, at, order - 1, 0.02), x, 1, 0.02)
    rough, fine = ((function(x + h) - function(x - h)) / (2 * h) for h in (2 * step, step))
    return (4 * fine - rough) / 3


def integral(function, start, end, pieces=400):
    """Simpson's rule."""
    width = (end - start) / pieces
    values = [function(start + width * index) for index in range(pieces + 1)]
    return width / 3 * (values[0] + 4 * sum(values[1::2]) + 2 * sum(values[2:-1:2]) + values[-1])


def at(text):
    return int(re.search(r"(?:at \w = |f'+\()(-?\d+)", text)[1])


def slope(text):
    return slope_of(formula(re.search(r"f\(x\) = (.*)\?", text)[1]), at(text))


def highest(text):
    function = formula(re.search(r"upwards is (.*) metres high after", text)[1], "t")
    return max(function(step / 100) for step in range(2000))


def second_derivative(text):
    return slope_of(formula(re.search(r"f\(x\) = (.*)\?", text)[1]), at(text), 2)


def area(text):
    shown, start, end = re.search(r"integral of (.*) from x = (\S+) to (?:x = )?(.*?)\?", text).groups()
    return integral(formula(shown), float(start), 40.0 if end == "infinity" else formula(end)(0), 4000)


def limit(text):
    shown, where = re.search(r"limit of (.*) as x goes to (\S+)\?", text).groups()
    function, where = formula(shown), int(where)
    rough, fine = ((function(where + h) + function(where - h)) / 2 for h in (0.004, 0.002))
    return (4 * fine - rough) / 3


def known_values(text):
    place = at(text)
    shown, asked = re.fullmatch(r"Let (.*)\. What is the derivative of (.*) at x = \d+\?", text).groups()
    values = [int(value) for value in re.findall(r"= (-?\d+)", shown)]
    f, df, g, dg = values if len(values) == 4 else [*values, 0, 0]
    functions = {"f": lambda x: f + df * (x - place), "g": lambda x: g + dg * (x - place)}
    code = re.sub(r"(?<=[)\dx]) ?(?=[fg]\()", "*", asked.replace("^", "**"))
    return slope_of(eval(f"lambda x: {code}", functions), place)


def extremes(text):
    if "for x from" in text:
        return on_interval(text)
    function = formula(re.search(r"does (.*) have", text)[1])
    return [x for x in range(-9, 10) if (function(x) - function(x - 0.01)) * (function(x) - function(x + 0.01)) > 0]


def on_interval(text):
    shown, start, end = re.search(r"value of (.*) for x from (\S+) to (\S+)\?", text).groups()
    values = [formula(shown)(step / 10) for step in range(int(start) * 10, int(end) * 10 + 1)]
    return (min if "smallest" in text else max)(values)


def area_between(text):
    first, second = (formula(side) for side in re.search(r"y = (.*) and y = (.*)\?", text).groups())
    ends = [x for x in range(-9, 10) if first(x) == second(x)]
    return abs(integral(lambda x: first(x) - second(x), *ends))


def tangent(text):
    function, x = formula(re.search(r"to y = (.*) at x", text)[1]), at(text)
    return [slope_of(function, x), function(x) - x * slope_of(function, x)]


def linearity(text):
    a, b, first, _, c, second, *_ = integers(text)
    steps = [first / (b - a), second / (c - b)]
    shown = re.search(r"integral of (\S*f\(x\).*) from", text)[1].replace("f(x)", "x")
    return sum(formula(shown)(step) * width for step, width in zip(steps, (b - a, c - b), strict=True))


def fundamental_theorem(text):
    shown, low, high, x = re.search(r"of (.*) from t = (.*) to t = (.*)\. What is F'\((.*)\)\?", text).groups()
    function, low, high = formula(shown, "t"), formula(low), formula(high)
    return slope_of(lambda end: integral(function, low(end), high(end), 4), int(x))


def coefficient(function, power):
    """A coefficient of the series at 0, by Cauchy's integral."""
    circle = [cmath.rect(0.2, 2 * math.pi * step / 64) for step in range(64)]
    return (sum(function(z) / z**power for z in circle) / 64).real


def taylor_coefficient(text):
    power, above, below = re.search(r"x\^(\d+) in .* of e\^\((.*)\)/\((.*)\) at", text).groups()
    return coefficient(lambda z: cmath.exp(formula(above)(z)) / formula(below)(z), int(power))


def higher_derivative(text):
    order, shown, power = re.search(r"order (\d+) of (.*) e\^\((.*)\) at", text).groups()
    function = coefficient(lambda z: formula(shown)(z) * cmath.exp(formula(power)(z)), int(order))
    return math.factorial(int(order)) * function


def tangent_of_curve(text):
    shown, right, x, y = re.search(r"curve (.*) = (.*) at the point \((.*), (.*)\) meets", text).groups()
    function, x, y = formula(shown, "xy"), int(x), int(y)
    assert function(x, y) == int(right)
    slope = -slope_of(lambda at: function(at, y), x) / slope_of(lambda at: function(x, at), y)
    return x - y / slope


def infinite_series(text):
    function = formula(re.search(r"sum of (.*) over", text)[1].replace(")(", ")*("), "n")
    many = 20_000
    # What is left of c/((n + a)(n + b)) after n terms is c/n, nearly.
    rest = function(many) * many if "/((" in text else 0
    return sum(function(n) for n in range(1, many)) + rest


def volume(text):
    """The area of the rings, added."""
    first, second, end = re.search(r"y = (.*) and y = (.*) for x from 0 to (\d+) is", text).groups()
    first, second = formula(first), formula(second)
    return integral(lambda x: abs(math.pi * first(x) ** 2 - math.pi * second(x) ** 2), 0, int(end))


def whole_area(text):
    function = formula(re.search(r"y = (.*) and the x-axis", text)[1].replace(")(", ")*("))
    ends = [x for x in range(-9, 10) if function(x) == 0]
    return sum(abs(integral(function, low, high, 40)) for low, high in pairwise(ends))


def ladder(text):
    length, speed, far = integers(text)
    return -slope_of(lambda time: math.sqrt(length**2 - (far + speed * time) ** 2), 0, step=1e-5)


def newton(text):
    shown, x = re.search(r"zero of (.*) starts at x = (\S+)\. ", text).groups()
    function = formula(shown)
    return int(x) - function(int(x)) / slope_of(function, int(x))


SOLVERS = {
    "simple_integral": area,
    "definite_integral": area,
    "improper": area,
    "by_parts": area,
    "partial_fractions": area,
    "over_a_period": area,
    "symmetric": area,
    "cancelled_limit": limit,
    "taylor_limit": limit,
    "chain_rule": slope,
    "chain_power": slope,
    "least_on_interval": on_interval,
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(
    ("kind", "level"), [case for case in cases(Calculus) if case[0].__name__ != "derivative_of_product"], ids=ids
)
def test_the_answer_is_what_numerical_methods_give(kind, level):
    for problem in draws(kind, level, 20):
        found = solver_of(kind)(problem.question.removesuffix(" Give the exact value."))
        gold = [float(answer) for answer in numbers(problem.answer)] if "," in problem.answer else real(problem.answer)
        assert found == pytest.approx(gold, rel=1e-4, abs=1e-4), problem


def test_the_derivative_of_a_product_is_multiplied_out_and_has_its_slope_everywhere():
    for problem in draws(Calculus.levels["medium"][0], 1):
        function = formula(re.search("derivative of (.*)\\? Multiply", problem.question)[1])
        assert "(" not in problem.answer
        for x in range(-3, 4):
            assert formula(problem.answer)(x) == pytest.approx(slope_of(function, x), rel=1e-6, abs=1e-5)
