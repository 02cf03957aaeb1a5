"""What the tests of generated problems share: drawing problems, and evaluating the formulas in their texts.

Each family's test solves the problems again from their words alone, by another way than the one they were made by.
"""

import math
import random
import re
from fractions import Fraction

from gem.answers.number import read_number
from gem_envs_math.problem import DIFFICULTIES

DRAWS = 25
NAMES = {name: getattr(math, name) for name in ("sin", "cos", "sqrt", "pi", "e")} | {"ln": math.log, "abs": abs}


def cases(env):
    """(kind, level) for each kind of each difficulty."""
    return [(kind, level) for level, name in enumerate(DIFFICULTIES) for kind in env.levels[name]]


def ids(value):
    return getattr(value, "__name__", str(value))


def draws(kind, level, count=DRAWS):
    return [kind(random.Random(seed), level) for seed in range(count)]


def formula(text, letters="x"):
    """A function from the text of a formula, such as `3x^2 e^(-2x) - 1`."""
    code = re.sub(r"\|(.*?)\|", r"abs(\1)", text).replace("^", "**")
    code = re.sub(r"(sin|cos)\((\w*)\)\*\*2", r"(\1(\2))**2", code)
    code = re.sub(r"(\d) ?(?=[a-z(])", r"\1*", code)
    code = re.sub(r"(\)|\*\*\d+|\b[xtn]) ?(?=[a-z(])", r"\1*", code)
    code = code.replace("xy", "x*y")
    return eval(f"lambda {','.join(letters)}: {code}", dict(NAMES))


def integers(text):
    """The integers of a text, with their signs."""
    return [int(found) for found in re.findall(r"(?<![\w.])-?\d+", text)]


def numbers(answer):
    """A gold answer of numbers."""
    return [Fraction(part) for part in answer.split(", ")]


def real(answer):
    r"""The value of a gold answer such as `-4\pi`, `3e - 2` or `2\ln 5`."""
    if (read := read_number(answer)) is not None:
        return float(read)
    answer = answer.replace("\\", "").replace("^", "**").replace("{", "(").replace("}", ")")
    answer = re.sub(r"(\d)(?=[a-z])", r"\1*", answer)
    return eval(answer, dict(NAMES))


def coefficients(function, degree):
    """The integer coefficients of a polynomial, lowest first, read off one value at a large base."""
    base, found, rest = 10**12, [], function(10**12)
    for _ in range(degree + 1):
        rest, digit = divmod(rest + base // 2, base)
        found.append(digit - base // 2)
    assert rest == 0
    return found
