"""`math:Calculus-v0`: every answer is checked by numbers: difference quotients, Simpson's rule, partial sums."""

import cmath
import math
import re

import pytest
from drawn_problems import cases, draws, formula, ids, integers, numbers, real

from gem_envs_math.calculus import Calculus


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


def speed(text):
    return slope_of(formula(re.search(r"ball is (.*) metres away", text)[1], "t"), at(text))


def power_rule(text):
    before, after = re.search(r"of (.*) is k(.*?)\. ", text).groups()
    return slope_of(formula(before), 2) / formula(after)(2)


def second_derivative(text):
    return slope_of(formula(re.search(r"f\(x\) = (.*)\?", text)[1]), at(text), 2)


def vertex(text):
    function = formula(re.search(r"is (.*) (?:smallest|largest)", text)[1])
    return (min if "smallest" in text else max)(range(-20, 21), key=function)


def area(text):
    shown, start, end = re.search(r"integral of (.*) from x = (\S+) to (?:x = )?(.*?)\?", text).groups()
    return integral(formula(shown), float(start), 40.0 if end == "infinity" else formula(end)(0), 4000)


def limit(text):
    shown, where = re.search(r"limit of (.*) as x goes to (\S+)\?", text).groups()
    function, where = formula(shown), int(where)
    rough, fine = ((function(where + h) + function(where - h)) / 2 for h in (0.02, 0.01))
    return (4 * fine - rough) / 3


def rules_of_derivatives(text):
    place = at(text)
    shown, asked = re.fullmatch(r"Let (.*)\. What is the derivative of (.*) at x = \d+\?", text).groups()
    f, df, g, dg = (int(value) for value in re.findall(r"= (-?\d+)", shown))
    functions = {"f": lambda x: f + df * (x - place), "g": lambda x: g + dg * (x - place)}
    code = asked.replace("^", "**").replace(")g", ")*g").replace("2 g", "2*g").replace("x f", "x*f")
    return slope_of(eval(f"lambda x: {code}", functions), place)


def extremes(text):
    function = formula(re.search(r"does (.*) have", text)[1])
    return [x for x in range(-9, 10) if (function(x) - function(x - 0.01)) * (function(x) - function(x + 0.01)) > 0]


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


def implicit(text):
    shown, right, x, y = re.search(r"curve (.*) = (.*) at \((.*), (.*)\)", text).groups()
    function, x, y = formula(shown, "xy"), int(x), int(y)
    assert function(x, y) == int(right)
    return -slope_of(lambda at: function(at, y), x) / slope_of(lambda at: function(x, at), y)


def infinite_series(text):
    function = formula(re.search(r"sum of (.*) over", text)[1].replace("n(n", "n*(n"), "n")
    many = 20_000
    # What is left of c/(n(n + k)) after n terms is c/n, nearly.
    rest = function(many) * many if "n(n" in text else 0
    return sum(function(n) for n in range(1, many)) + rest


def optimum(text):
    if "fence" in text:
        length = integers(text)[0]
        return max(side * (length - 2 * side) for side in (length * step / 400 for step in range(200)))
    if "x > 0" in text:
        function = formula(re.search(r"of (.*) for x > 0", text)[1])
        return min(function(step / 100) for step in range(1, 3000))
    shown, start, end = re.search(r"of (.*) for x from (\S+) to (\S+)\?", text).groups()
    values = [formula(shown)(step / 10) for step in range(int(start) * 10, int(end) * 10 + 1)]
    return (min if "smallest" in text else max)(values)


SOLVERS = {
    "simple_integral": area,
    "definite_integral": area,
    "improper": area,
    "by_parts": area,
    "logarithmic": area,
    "over_a_period": area,
    "odd_and_even": area,
    "cancelled_limit": limit,
    "taylor_limit": limit,
    "chain_rule": slope,
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(
    ("kind", "level"), [case for case in cases(Calculus) if case[0].__name__ != "derivative_of_polynomial"], ids=ids
)
def test_the_answer_is_what_numerical_methods_give(kind, level):
    for problem in draws(kind, level, 15):
        found = solver_of(kind)(problem.question.removesuffix(" Give the exact value."))
        gold = [float(answer) for answer in numbers(problem.answer)] if "," in problem.answer else real(problem.answer)
        assert found == pytest.approx(gold, rel=1e-4, abs=1e-4), problem


def test_the_derivative_of_a_polynomial_has_its_slope_everywhere():
    for problem in draws(Calculus.levels["medium"][0], 1):
        function = formula(re.search("derivative of (.*)\\?", problem.question)[1])
        for x in range(-3, 4):
            assert formula(problem.answer)(x) == pytest.approx(slope_of(function, x), rel=1e-6, abs=1e-5)
