"""Values of the checks of `math:Sample`, and how they are written."""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

import sympy as sp
from latex2sympy2_extended import latex2sympy

x, y, z, w, n, k, r, h, a, b = sp.symbols("x y z w n k r h a b")
A, C = sp.symbols("A C")
i = sp.I
x_real = sp.Symbol("x", real=True)

PARABOLAS = (
    lambda v: (v - 2) ** 2 + 3,
    lambda v: -((v + 2) ** 2) + 3,
    lambda v: -((v - 3) ** 2) + 2,
    lambda v: -((v - 2) ** 2) + 3,
)
STATEMENTS = (
    lambda rain, wet: wet or not rain,
    lambda rain, wet: rain or not wet,
    lambda rain, wet: rain or not wet,
    lambda rain, wet: rain and not wet,
)
LISTS = ((5, 5, 5, 5), (4, 5, 5, 6), (1, 5, 5, 9), (3, 5, 5, 7))


def agrees(answer, value):
    """Whether an answer says `value`: exactly as `written` writes it, or, for a formula, as sympy reads it."""
    if isinstance(value, sp.Expr) and not value.is_rational and value not in (sp.oo, -sp.oo):
        read = latex2sympy(answer)
        # The parser takes all letters for small ones, and i for a letter.
        names = {"i": sp.I, **{symbol.name.lower(): symbol for symbol in value.free_symbols}}
        read = read.subs({symbol: names.get(symbol.name, symbol) for symbol in read.free_symbols})
        return sp.simplify(read - value) == 0
    return _bare(answer) == _bare(written(value))


def written(value):
    if isinstance(value, str):
        return value
    if value in (sp.oo, -sp.oo):
        return r"\infty" if value > 0 else r"-\infty"
    if isinstance(value, sp.MatrixBase):
        rows = (r"&".join(map(written, value.row(row))) for row in range(value.rows))
        return r"\begin{pmatrix}" + r"\\".join(rows) + r"\end{pmatrix}"
    if isinstance(value, set):
        return r"\{" + ",".join(map(written, sorted(value))) + r"\}"
    if isinstance(value, list):
        return ", ".join(map(written, value))
    if isinstance(value, tuple | sp.Point):
        return "(" + ",".join(map(written, value)) + ")"
    if isinstance(value, sp.Rational):
        value = Fraction(int(value.p), int(value.q))
    if isinstance(value, int | Fraction):
        sign = "-" if value < 0 else ""
        top, bottom = abs(Fraction(value)).as_integer_ratio()
        return f"{sign}{top}" if bottom == 1 else rf"{sign}\frac{{{top}}}{{{bottom}}}"
    return re.sub(r"\\left|\\right", "", sp.latex(value))


def _bare(text):
    return re.sub(r"\s", "", text)


def only(values):
    """The only value of `values`: an item with several answers, or none, is wrong."""
    (value,) = values
    return value


def first(is_it):
    """The smallest positive integer for which `is_it` holds."""
    number = 1
    while not is_it(number):
        number += 1
    return number


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


def digits(number):
    written = ""
    while number:
        number, digit = divmod(number, 10**1000)
        written = (str(digit).zfill(1000) if number else str(digit)) + written
    return written


def domino_tilings(width):
    """Tilings of a 2 x width rectangle, counted by filling the first free cell."""

    def count(free):
        if not free:
            return 1
        row, column = min(free, key=lambda cell: (cell[1], cell[0]))
        others = ((row + 1, column), (row, column + 1))
        return sum(count(free - {(row, column), other}) for other in others if other in free)

    return count(frozenset((row, column) for row in range(2) for column in range(width)))


def share(events: Iterable[bool]):
    counted = Counter(map(bool, events))
    return Fraction(counted[True], counted.total())


def decimal(value):
    number = Fraction(value)
    places = next(p for p in range(20) if (number * 10**p).denominator == 1)
    return f"{float(number):.{places}f}"


def mixed(value):
    whole, rest = divmod(value, 1)
    return f"{whole}{written(rest)}"


def ratio(*parts):
    return ":".join(str(part // math.gcd(*parts)) for part in parts)


def percent(value):
    return decimal(100 * value) + r"\%"


def dollars(value):
    number = Fraction(value)
    return rf"\${number}" if number.denominator == 1 else rf"\${float(number):.2f}"


def quantity(value, unit):
    return rf"{decimal(value)}\text{{ {unit.partition('^')[0]}}}" + "".join(unit.partition("^")[1:])


def degrees(value):
    return rf"{written(value)}^\circ"


def scientific(value):
    mantissa, exponent = f"{Decimal(value):.12e}".split("e")
    return rf"{mantissa.rstrip('0').rstrip('.')}\times 10^{{{int(exponent)}}}"


def power(base, value):
    exponent = only(e for e in range(200) if base**e == value)
    return f"{base}^{{{exponent}}}"


def in_base(number, base):
    written = ""
    while number:
        number, digit = divmod(number, base)
        written = (string.digits + string.ascii_uppercase)[digit] + written
    return written


def clock(minutes):
    hours, minutes = divmod(minutes, 60)
    return f"{hours % 24:02}:{minutes:02}"


def choice(right):
    return only(letter for letter, is_right in zip("ABCD", right, strict=True) if is_right)


def several(solutions):
    return [written(value) for value in sorted(solutions)]


def plain(expression):
    return str(expression).replace("*", "").replace(" ", "")


def curve(equation, point):
    """`equation`, if the points of a parametric curve satisfy it."""
    left, right = equation.replace("^", "**").split("=")
    t = sp.Symbol("t")
    at = dict(zip((x, y), point(t), strict=True))
    difference = sp.sympify(left).subs(at) - sp.sympify(right)
    return equation if sp.simplify(difference) == 0 else None


def inequality(answer, relation):
    """`answer`, a chain of comparisons of one letter, if `relation` in x holds for the same numbers."""
    chain = answer.replace(r"\ge ", ">=").replace("k", "x")
    points = [Fraction(number, 7) for number in range(-140, 141)]
    same = all(bool(relation.subs(x, sp.Rational(p.numerator, p.denominator))) == eval(chain, {"x": p}) for p in points)
    return answer if same else None


def intervals(solution):
    """The set of the numbers x for which the inequality `solution` holds, or the set itself, in interval notation."""
    if not isinstance(solution, sp.Set):
        solution = solution.subs(x, x_real).as_set()
    parts = solution.args if isinstance(solution, sp.Union) else (solution,)
    return r"\cup".join(
        f"{'(' if part.left_open else '['}{written(part.start)},{written(part.end)}{')' if part.right_open else ']'}"
        for part in sorted(parts, key=lambda part: part.start)
    )


def converges_on_the_left_end_only():
    """Whether the series of x^n/(n 2^n) has radius 2, diverges at 2 and converges at -2."""
    radius = 1 / sp.limit(n * 2**n / ((n + 1) * 2 ** (n + 1)), n, sp.oo)
    at_2, at_minus_2 = sp.summation(1 / n, (n, 1, sp.oo)), sp.summation((-1) ** n / n, (n, 1, sp.oo))
    return radius == 2 and at_2 == sp.oo and at_minus_2 == -sp.log(2)


def alternates_between_two_limits():
    even = sp.limit(2 * n / (2 * n + 1), n, sp.oo)
    odd = sp.limit(-(2 * n + 1) / (2 * n + 2), n, sp.oo)
    return even == 1 and odd == -1


def shape(*corners):
    """The most precise name of a quadrilateral with integer corners in order, among those of a question."""
    sides = [math.dist(corners[side], corners[(side + 1) % 4]) for side in range(4)]
    diagonals = math.dist(corners[0], corners[2]), math.dist(corners[1], corners[3])
    if len(set(sides)) == 1:
        return "square" if diagonals[0] == diagonals[1] else "rhombus"
    return None
