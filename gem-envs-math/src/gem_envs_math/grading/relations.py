"""Equality of equations, and of inequalities, whose sides are values."""

from fractions import Fraction
from itertools import pairwise

from gem_envs_math.grading.nodes import Node, names, number
from gem_envs_math.grading.rational import RANDOM, exact, proportional
from gem_envs_math.grading.values import equal, sign_of_ratio
from gem_envs_math.grading.zeros import same_zeros

_SHIFT = number(Fraction(RANDOM.getrandbits(40), 1 << 38))
"""What makes a constant of 0 that can be compared with 1."""


def same_equation(gold: Node, answer: Node, digits: int) -> bool | None:
    """Tell whether two equations are equal; None if that cannot be decided here. Together they have `digits` digits.

    They are equal if the differences of their sides are the same but for a factor that is 0 nowhere, or if they have
    the same solutions, at least one, over the complex numbers. Equations that are always true, or never, are equal only
    if their sides are.

    Raises:
        rational.TooLarge: the answer has too many digits to be worked out.
    """
    ours, theirs = _difference(gold), _difference(answer)
    same = _proportional(ours, theirs, digits)
    if same is None:
        return None
    if not same:
        return same_zeros(ours, theirs)
    return (_varies(ours, digits) and _varies(theirs, digits)) or _same_sides(gold, answer, digits)


def _same_sides(gold: Node, answer: Node, digits: int) -> bool:
    left, right = gold.args
    for first, second in (answer.args, answer.args[::-1]):
        if equal(left, first, digits) and equal(right, second, digits):
            return True
    # 2a = 2a is a = a
    if not (equal(left, right, digits) and _varies(left, digits)):
        return False
    return all(_varies(side, digits) and _proportional(left, side, digits) for side in answer.args)


def same_inequality(gold: Node, answer: Node, digits: int) -> bool | None:
    """Tell whether two inequalities, or chains of them, are equal; None if that cannot be decided here.

    They are if each condition of one is a positive multiple of one of the other.

    Raises:
        rational.TooLarge: the answer has too many digits to be worked out.
    """
    ours, theirs = _conditions(gold), _conditions(answer)
    if len(ours) != len(theirs):
        return None
    for sign, sides in ours:
        found = None
        for place, (other, given) in enumerate(theirs):
            if sign != other:
                continue
            ratio = None
            if any(map(names, (*sides, *given))):
                ratio = sign_of_ratio(_minus(*sides), _minus(*given))
                if ratio is None:
                    return None
            # 1 < 2 is always true, and so is 3 < 4.
            if ratio is None or (ratio and not _varies(_minus(*sides), digits)):
                ratio = int(all(equal(ours, theirs, digits) for ours, theirs in zip(sides, given, strict=True)))
            if ratio > 0 or (ratio and sign == "!="):
                found = place
        if found is None:
            return False
        del theirs[found]
    return True


def _conditions(chain: Node) -> list[tuple[str, tuple[Node, Node]]]:
    """Conditions that the first side is `>`, `>=` or `!=` the second."""
    found: list[tuple[str, tuple[Node, Node]]] = []
    for sign, (first, second) in zip(chain.name.split(), pairwise(chain.args), strict=True):
        found.append((sign.replace("<", ">"), (second, first) if sign[0] == "<" else (first, second)))
    return found


def _difference(equation: Node) -> Node:
    left, right = equation.args
    if right == number(0):
        return _without_exponentials(left)
    if left == number(0):
        return _without_exponentials(right)
    return _minus(left, right)


def _minus(left: Node, right: Node) -> Node:
    return Node("add", (left, Node("neg", (right,))))


def _without_exponentials(node: Node) -> Node:
    """A product without its factors that are 0 nowhere, such as those of `e^x`."""
    if node.op == "mul":
        return Node("mul", tuple(map(_without_exponentials, node.args)))
    if node.op == "pow" and names(node.args[1]):
        base = exact(node.args[0])
        if (base is not None and base > 0) or node.args[0] in (Node("constant", (), "e"), Node("constant", (), "pi")):
            return number(1)
    return node


def _proportional(first: Node, second: Node, digits: int) -> bool | None:
    """Tell whether one is a constant times the other."""
    same = proportional(first, second)
    if same is not None:
        return same
    return equal(Node("mul", (first, _moved(second))), Node("mul", (_moved(first), second)), digits)


def _varies(node: Node, digits: int) -> bool:
    return bool(names(node)) and not _proportional(Node("add", (node, _SHIFT)), number(1), digits)


def _moved(node: Node) -> Node:
    """The same function of other variables."""
    if node.op == "name":
        return node._replace(name=node.name + " ")
    return node._replace(args=tuple(map(_moved, node.args))) if node.args else node
