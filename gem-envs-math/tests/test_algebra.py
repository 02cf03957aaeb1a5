"""`math:Algebra-v0`: every answer is found again from the words of the question."""

import cmath
import math
import re
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import pytest
from drawn_problems import cases, coefficients, draws, formula, ids, integers, numbers

from gem_envs_math.algebra.env import Algebra

FRACTIONS = sorted({Fraction(above, below) for above in range(-30, 31) for below in range(1, 7)})


def sides(equation, letters="x"):
    left, right = (formula(side, letters) for side in equation.split(" = "))
    return lambda *values: left(*values) - right(*values)


def roots(function):
    """All roots among small fractions."""
    return [x for x in FRACTIONS if function(x) == 0]


def line_root(function):
    """The root of a linear function, from two of its values."""
    return [Fraction(-function(0), function(1) - function(0))]


def splits(function, found, degree):
    """Whether a polynomial has no roots but these: it is the product of their factors."""
    spots = [31 + index for index in range(degree + 1)]
    return any(
        len({function(x) / math.prod(x - root for root in chosen) for x in map(Fraction, spots)}) == 1
        for chosen in combinations_with_replacement(found, degree)
    )


def evaluate(text):
    shown = re.fullmatch(r"What is (.*) for x = (.*)\?|Let f\(x\) = (.*)\. What is f\((.*)\)\?", text)
    name, x = (part for part in shown.groups() if part)
    return [formula(name)(int(x))]


def linear(text):
    return line_root(sides(re.search(r"(?:Solve|if) (.*?)(?: for x)?[.?]", text)[1]))


def brackets(text):
    return [formula(re.search("If (.*) is written", text)[1])(0)]


def sum_and_difference(text):
    total, gap = integers(text)
    pair = [(a, b) for a, b in product(range(200), repeat=2) if a + b == total and a - b == gap]
    return [pair[0][0] if "larger" in text else pair[0][1]]


def proportion(text):
    few, cost, many = integers(text)
    return [Fraction(cost, few) * many]


def late_term(text):
    *start, place = integers(text)
    assert len({b - a for a, b in pairwise(start)}) == 1
    return [[*range(start[0], 10**6 if start[1] > start[0] else -(10**6), start[1] - start[0])][place - 1]]


def ages(text):
    ratio, later, together = integers(text)
    return [ratio * child for child in range(100) if (ratio + 1) * child + 2 * later == together]


def tickets(text):
    many, worth, dear, cheap = integers(text)
    return [adults for adults in range(many + 1) if adults * dear + (many - adults) * cheap == worth]


def system(text):
    letters = "xyz" if "z" in text.split(". ")[0] else "xy"
    rows = [sides(row, letters) for row in re.search(r"system (.*?)\. ", text)[1].split("; ")]
    found = [values for values in product(range(-9, 10), repeat=len(letters)) if not any(row(*values) for row in rows)]
    assert len(found) == 1
    return list(found[0])


def polynomial_roots(text):
    function = formula(re.search(r"of (.*) = 0", text)[1])
    found = roots(function)
    assert splits(function, found, 3 if "x^3" in text else 2)
    return found


def biquadratic(text):
    """Where the sign changes, as the zeros are simple."""
    function = formula(re.search(r"of (.*) = 0", text)[1])
    steps = [Fraction(step, 4) for step in range(-50, 51)]
    changes = [x for x in steps if function(x - Fraction(1, 8)) * function(x + Fraction(1, 8)) < 0]
    assert changes == [x for x in steps if function(x) == 0]
    return changes


def expansion(text):
    power, shown = re.search(r"x\^(\d+) in the expansion of (.*)\?", text).groups()
    return [coefficients(formula(shown), 9)[int(power)]]


def composition(text):
    f, g, x = re.fullmatch(r"Let f\(x\) = (.*) and g\(x\) = (.*)\. What is f\(g\((.*)\)\)\?", text).groups()
    return [formula(f)(formula(g)(int(x)))]


def values_at_roots(text):
    """The value of a symmetric function of the roots, which are found by numbers."""
    shown, asked = re.search(r"roots of (.*) = 0\. What is (.*)\?", text).groups()
    function, found = formula(shown), [complex(0.4, 0.9) ** power for power in range(3 if "t" in asked else 2)]
    for _ in range(500):  # Durand and Kerner's method
        for index, x in enumerate(found):
            found[index] = x - function(x) / math.prod(x - other for other in found if other != x)
    code = asked.replace("^", "**").replace(")(", ")*(")
    value = eval(code, dict(zip("rst", found, strict=False)))
    return [pytest.approx(value, rel=1e-6, abs=1e-6)]


def symmetric_system(text):
    total, squares = integers(text.replace("x^2 + y^2", ""))[:2]
    x = (total + cmath.sqrt(2 * squares - total**2)) / 2
    asked = re.search(r"What is (.*)\?", text)[1].replace("^", "**").replace("3 y", "3*y").replace("x y", "x*y")
    return [pytest.approx(eval(asked, {"x": x, "y": total - x}), rel=1e-9)]


def two_terms(text):
    early, i, late, j, n = integers(text)
    step = Fraction(late - early, j - i)
    terms = [early + (place - i) * step for place in range(1, n + 1)]
    return [sum(terms)] if "sum" in text else terms[-1:]


def geometric_series(text):
    early, i, late, _, n = integers(text)
    (ratio,) = (ratio for ratio in range(-9, 10) if early * ratio**3 == late)
    return [sum(Fraction(early) * Fraction(ratio) ** (place - i) for place in range(1, n + 1))]


def least_value(text):
    function = formula(re.search(r"value of (.*) for", text)[1])
    # The vertex of a quadratic is in the middle between places of the same height.
    width = function(1) - function(-1)
    middle = Fraction(-width, 2 * (function(1) + function(-1) - 2 * function(0)))
    assert function(middle + 1) == function(middle - 1)
    assert ("smallest" in text) == (function(middle) < function(middle + 1))
    return [function(middle)]


def inverse_function(text):
    shown, k = re.search(r"f\(x\) = (.*)\. For which x is f\(f\(x\)\) = (.*)\?", text).groups()
    top, bottom = (formula(part) for part in shown.split("/"))
    (a, b), (c, d) = ((part(1) - part(0), part(0)) for part in (top, bottom))
    # f(f(x)) is (p x + q)/(r x + s), by the product of matrices.
    p, q, r, s = a * a + b * c, a * b + b * d, c * a + d * c, c * b + d * d
    x, k = Fraction(q - int(k) * s, int(k) * r - p), int(k)
    assert top(top(x) / bottom(x)) / bottom(top(x) / bottom(x)) == k
    return [x]


def remainder(text):
    above, below = (coefficients(formula(part), 5) for part in re.search(r"of (.*) divided by (.*) is", text).groups())
    for power in (5, 4, 3, 2):  # long division by a polynomial whose highest power is x^2
        factor = above[power]
        for low in (0, 1, 2):
            above[power - 2 + low] -= factor * below[low]
    return above[1::-1]


def exponential(text):
    return [x for x in range(-9, 10) if sides(re.search(r"of (.*)\.", text)[1])(Fraction(x)) == 0]


def exponents(text):
    equation = sides(re.search(r"of (.*)\.", text)[1])
    return [x for x in range(-20, 21) if equation(Fraction(x)) == 0]


def logarithm(text):
    base, inner, other, power = re.search(r"log_(\d+)\((.*)\) \+ log_\d+\((.*)\) = (\d+)", text).groups()
    first, second = formula(inner), formula(other)
    return [
        x
        for x in range(-3000, 3000)
        if min(first(x), second(x)) > 0 and first(x) * second(x) == int(base) ** int(power)
    ]


def radical(text):
    inner, outer = map(formula, re.search(r"sqrt\((.*)\) = (.*)\.", text).groups())
    return [x for x in range(-200, 200) if inner(x) >= 0 and outer(x) >= 0 and outer(x) ** 2 == inner(x)]


def two_radicals(text):
    left, right = re.search(r"Solve (.*) = (.*) for", text).groups()
    inner = [formula(part) for part in re.findall(r"sqrt\((.*?)\)", left)]
    places = [x for x in range(-300, 300) if min(part(x) for part in inner) >= 0]
    return [x for x in places if abs(formula(left)(x) - int(right)) < 1e-9]


def distances(text):
    """The zeros of a function that is linear between its corners."""
    function = sides(re.search(r"of (\|.*)\.", text)[1])
    corners = sorted(line_root(formula(part))[0] for part in re.findall(r"\|(.*?)\|", text))
    ends = [Fraction(-100), *corners, Fraction(100)]
    found = set()
    for low, high in pairwise(ends):
        below, above = function(low), function(high)
        found |= {low - below * (high - low) / (above - below)} if below * above <= 0 and below != above else set()
    return sorted(found)


SOLVERS = {
    "linear_both_sides": linear,
    "quadratic": polynomial_roots,
    "cubic": polynomial_roots,
    "absolute_value": distances,
    "two_distances": distances,
    "two_binomials": expansion,
    "root_symmetry": values_at_roots,
    "cubic_symmetry": values_at_roots,
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(Algebra), ids=ids)
def test_the_answer_is_what_solving_the_words_of_the_question_gives(kind, level):
    for problem in draws(kind, level):
        assert solver_of(kind)(problem.question) == numbers(problem.answer), problem
