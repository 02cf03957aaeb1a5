"""`math:Algebra-v0`: every answer is found again from the words of the question."""

import cmath
import math
import re
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import pytest
from drawn_problems import cases, coefficients, draws, formula, ids, integers, numbers

from gem_envs_math.algebra import Algebra

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


def like_terms(text):
    return [formula(re.search("if (.*) = kx", text)[1])(1)]


def sum_and_difference(text):
    total, gap = integers(text)
    pair = [(a, b) for a, b in product(range(60), repeat=2) if a + b == total and a - b == gap]
    return [pair[0][0] if "larger" in text else pair[0][1]]


def proportion(text):
    few, cost, many = integers(text)
    return [Fraction(cost, few) * many]


def next_term(text):
    terms = integers(text)
    assert len({b - a for a, b in pairwise(terms)}) == 1
    return [terms[-1] + terms[1] - terms[0]]


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


def absolute_value(text):
    return roots(sides(re.search(r"of (\|.*)\.", text)[1]))


def expansion(text):
    power, shown = re.search(r"x\^(\d+) in the expansion of (.*)\?", text).groups()
    return [coefficients(formula(shown), 8)[int(power)]]


def composition(text):
    f, g, x = re.fullmatch(r"Let f\(x\) = (.*) and g\(x\) = (.*)\. What is f\(g\((.*)\)\)\?", text).groups()
    return [formula(f)(formula(g)(int(x)))]


def root_symmetry(text):
    shown, asked = re.search(r"roots of (.*) = 0\. What is (.*)\?", text).groups()
    c, b, a = coefficients(formula(shown), 2)
    r, s = ((-b + sign * cmath.sqrt(b * b - 4 * a * c)) / (2 * a) for sign in (1, -1))
    value = eval(asked.replace("rs", "r*s").replace("^", "**"), {"r": r, "s": s})
    return [pytest.approx(value, rel=1e-9, abs=1e-9)]


def terms(text):
    *start, count = integers(text)
    while len(start) < count:
        start.append(2 * start[-1] - start[-2] if "arithmetic" in text else start[-1] * start[1] // start[0])
    return start[:count]


def remainder(text):
    above, below = (coefficients(formula(part), 5) for part in re.search(r"of (.*) divided by (.*) is", text).groups())
    for power in (5, 4, 3, 2):  # long division by a polynomial whose highest power is x^2
        factor = above[power]
        for low in (0, 1, 2):
            above[power - 2 + low] -= factor * below[low]
    return above[1::-1]


def exponential(text):
    first, left, second, right = re.search(r"Solve (\d+)\^\((.*)\) = (\d+)\^\((.*)\) for x", text).groups()
    base = next(prime for prime in (2, 3, 5) if int(first) % prime == 0)
    powers = [round(math.log(int(number), base)) for number in (first, second)]
    assert [base**power for power in powers] == [int(first), int(second)]
    return line_root(lambda x: powers[0] * formula(left)(x) - powers[1] * formula(right)(x))


def logarithm(text):
    base, inner, power = re.search(r"log_(\d+)\(x\) \+ log_\d+\((.*)\) = (\d+)", text).groups()
    second = formula(inner)
    return [x for x in range(1, 2000) if second(x) > 0 and x * second(x) == int(base) ** int(power)]


def radical(text):
    inner, outer = map(formula, re.search(r"sqrt\((.*)\) = (.*)\.", text).groups())
    return [x for x in range(-200, 200) if inner(x) >= 0 and outer(x) >= 0 and outer(x) ** 2 == inner(x)]


SOLVERS = {
    "linear_both_sides": linear,
    "quadratic": polynomial_roots,
    "cubic": polynomial_roots,
    "term_of_sequence": lambda text: terms(text)[-1:],
    "series": lambda text: [sum(terms(text))],
}


def solver_of(kind):
    return SOLVERS.get(kind.__name__) or globals()[kind.__name__]


@pytest.mark.parametrize(("kind", "level"), cases(Algebra), ids=ids)
def test_the_answer_is_what_solving_the_words_of_the_question_gives(kind, level):
    for problem in draws(kind, level):
        assert solver_of(kind)(problem.question) == numbers(problem.answer), problem
