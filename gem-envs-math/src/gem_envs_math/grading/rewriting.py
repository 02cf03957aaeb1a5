r"""Forms of a formula that are the same for all its trivial rewritings.

`shallow` sees through the order of sums and products, brackets, signs, and 0, 1 and the power 1 where they change
nothing: `1\cdot(x^2-1)+0` is $x^2-1$. `deep` also works out numbers and collects equal terms and factors:
`\sqrt{16\cdot 3}` and `48^{1/2}` are $\sqrt{48}$, and `(x+1)(x+1)` is $(x+1)^2$. Neither expands, factorises or takes
roots, so that the form before a task and the one after it are different, unless the task is arithmetic. Both move terms
to the other side of an equation; `written`, which is else as `shallow`, does not, because that may be the task.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple, cast

from gem_envs_math.grading.nodes import Node, is_value, number
from gem_envs_math.grading.rational import TooLarge, exact

Form = tuple[Any, ...]
"""A tree: `("number", value)`, `("add", terms)`, `("mul", sign or coefficient, factors)`, or another operation with its
arguments."""
_ONE = Fraction(1)
_SYMMETRIC = {"gcd", "lcm", "max", "min"}
_TURNED = {">": "<", ">=": "<="}


class Forms(NamedTuple):
    """The forms of one formula."""

    written: Form
    shallow: Form
    deep: Form


def forms(node: Node) -> Forms:
    """All three forms."""
    shallow = _form(node, deep=False)
    return Forms(_sides(node) if shallow[0] == "relation" else shallow, shallow, _form(node, deep=True))


def contains(whole: Form, part: Form) -> bool:
    """Tell whether `part` is a part of `whole`: a subtree, or some of the terms or factors of one."""
    return any(inner == part or _has_all(inner, part) for inner in _subtrees(whole))


def _has_all(whole: Form, part: Form) -> bool:
    if whole[0] != part[0] or whole[0] not in ("add", "mul"):
        return False
    return not Counter(part[-1]) - Counter(whole[-1])


def _subtrees(form: Form) -> Iterator[Form]:
    if form and isinstance(form[0], str):
        yield form
    if form and form[0] == "add":
        yield from (("mul", sign, factors) for sign, factors in form[1])
    for each in form:
        if isinstance(each, tuple):
            yield from _subtrees(cast("Form", each))


def _form(node: Node, *, deep: bool) -> Form:
    op, args = node.op, node.args
    if deep and (value := _exact(node)) is not None:
        return "number", value
    if op in ("add", "neg", "mul", "div", "pow") and is_value(node):
        return _sum(node, deep)
    if op == "number":
        return "number", node.value
    if deep and op == "root" and (degree := _exact(args[1])):
        return _sum(Node("pow", (args[0], number(1 / degree))), deep)
    if op == "relation":
        return _relation(node, deep)
    inner = tuple(_form(part, deep=deep) for part in args)
    if op in ("several", "set") or (op == "call" and node.name in _SYMMETRIC):
        inner = _sorted(inner)
    return op, node.name, node.value, inner


def _sides(node: Node) -> Form:
    signs = node.name.split()
    sides = tuple(_form(part, deep=False) for part in node.args)
    if all(sign in _TURNED for sign in signs):
        return "sides", tuple(_TURNED[sign] for sign in reversed(signs)), sides[::-1]
    return "sides", tuple(signs), _sorted(sides) if node.name == "=" else sides


def _exact(node: Node) -> Fraction | None:
    try:
        return exact(node)
    except TooLarge:
        return None


def _relation(node: Node, deep: bool) -> Form:
    if len(node.args) != 2 or not all(map(is_value, node.args)) or node.name not in ("=", "<", "<=", ">", ">="):
        return "relation", node.name, tuple(_form(part, deep=deep) for part in node.args)
    left, right = node.args
    if node.name in _TURNED:
        left, right = right, left
    difference, opposite = (
        _sum(Node("add", (one, Node("neg", (other,)))), deep) for one, other in ((left, right), (right, left))
    )
    if node.name == "=":
        difference = _sorted((difference, opposite))[0]
    return "relation", _TURNED.get(node.name, node.name), difference


def _sum(node: Node, deep: bool) -> Form:
    terms = list[tuple[Fraction, tuple[Any, ...]]]()
    _terms(node, _ONE, deep, lambda sign, factors: terms.append((sign, factors)))
    if deep:
        total = Counter[Any]()
        for coefficient, factors in terms:
            total[factors] += coefficient  # pyright: ignore[reportArgumentType]: a Counter counts fractions as well
        terms = [(Fraction(coefficient), factors) for factors, coefficient in total.items() if coefficient]
    if not terms:
        return "number", Fraction(0)
    if len(terms) > 1:
        return "add", _sorted(terms)
    coefficient, factors = terms[0]
    if deep and not factors:
        return "number", coefficient
    if coefficient == 1 and len(factors) == 1 and factors[0][1] == 1:
        return factors[0][0]
    return "mul", coefficient, factors


def _terms(node: Node, sign: Fraction, deep: bool, add: Callable[[Fraction, tuple[Any, ...]], None]) -> None:
    if node.op == "add":
        for part in node.args:
            _terms(part, sign, deep, add)
        return
    if node.op == "neg":
        _terms(node.args[0], -sign, deep, add)
        return
    factors = Counter[Form]()
    single = list[tuple[Form, int]]()
    coefficient = sign * _factors(node, 1, deep, lambda factor, power: single.append((factor, power)))
    if not coefficient:
        return
    if deep:
        for factor, power in single:
            factors[factor] += power
        single = [(factor, power) for factor, power in factors.items() if power]
    if deep and abs(coefficient) == 1 and len(single) == 1 and single[0][1] == 1 and single[0][0][0] == "add":
        for inner, each in single[0][0][1]:  # 2(x + 1)/2, and -(x + 1)
            add(inner * coefficient, each)
        return
    if deep and not single:
        add(coefficient, ())
        return
    if not single:
        single = [(("number", _ONE), 1)]
    add(coefficient, _sorted(single))


def _factors(node: Node, power: int, deep: bool, multiply: Callable[[Form, int], None]) -> Fraction:
    """Give `multiply` the factors, with 1 or -1 for the denominator, and return the sign, or the number in front."""
    op, args = node.op, node.args
    if deep and (value := _exact(node)) is not None and (value or power > 0):
        return value**power
    if op == "number":
        if not node.value and power > 0:
            return Fraction(0)
        if node.value != 1:
            multiply(("number", node.value), power)
        return _ONE
    if op == "neg":
        return -_factors(args[0], power, deep, multiply)
    if op in ("mul", "div"):
        first = _factors(args[0], power, deep, multiply)
        return first * _factors(args[1], power if op == "mul" else -power, deep, multiply)
    if op == "pow":
        exponent = _exact(args[1])
        if exponent == 1:
            return _factors(args[0], power, deep, multiply)
        if deep and exponent is not None and exponent.denominator == 1 and 0 < abs(exponent) < 100:
            sign = _factors(args[0], 1, deep, lambda form, inner: multiply(form, inner * power * int(exponent)))
            return sign ** (power * int(exponent)) if sign else sign
        below = deep and exponent is not None and exponent < 0  # 2^{-1/2} is 1/\sqrt{2}
        raised = args[1] if not below else Node("neg", args[1:])
        inner = tuple(_form(part, deep=deep) for part in (args[0], raised))
        multiply(("pow", "", Fraction(0), inner), -power if below else power)
        return _ONE
    form = _form(node, deep=deep)
    if form == ("number", Fraction(0)) and power > 0:
        return Fraction(0)
    if form[0] == "number" and (form[1] == 1 or (deep and form[1])):
        return form[1] ** power
    if form[0] == "mul":  # a sum of one term
        for factor, inner in form[2]:
            multiply(factor, inner * power)
        return form[1] ** power
    multiply(form, power)
    return _ONE


def _sorted(parts: Any) -> tuple[Any, ...]:
    return tuple(sorted(parts, key=repr))


def is_numeral(node: Node) -> bool:
    """Tell whether it is a number as it is given: a decimal, a fraction of two integers, a percentage."""
    if node.op == "div":
        return all(part.op == "number" for part in node.args)
    return node.op == "number" or (node.op in ("neg", "percent") and is_numeral(node.args[0]))
