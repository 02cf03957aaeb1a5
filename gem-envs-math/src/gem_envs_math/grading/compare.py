"""Comparing two answers, for each kind of answer."""

from collections.abc import Sequence
from fractions import Fraction

from gem_envs_math.grading import rational, values
from gem_envs_math.grading.asked import NOTHING, Asked
from gem_envs_math.grading.matrices import matrix_of, vector_of
from gem_envs_math.grading.named import in_order_of, is_calculation, is_name, is_named, same_name
from gem_envs_math.grading.nodes import Node, is_value, names, number
from gem_envs_math.grading.real_sets import is_backwards, is_solved, real_set
from gem_envs_math.grading.relations import same_equation, same_inequality

_DEGREE, _RADIAN = "degree^1", "radian^1"


class Undecided(Exception):
    """Comparing failed: neither equality nor its contrary could be established."""


class Comparison:
    """Compares answers with a gold.

    Args:
        digits: how many digits both have together.
        tolerance: the largest difference of two numbers, as a share of the gold.
        asked: what the question asks for.
    """

    def __init__(self, digits: int, tolerance: float, asked: Asked = NOTHING) -> None:
        self._digits = digits
        self._tolerance = tolerance
        self._asked = asked
        self.rule = "value"
        """The rule that decided."""

    def same(self, gold: Node, answer: Node) -> bool:
        """Tell whether `answer` means the same as `gold`.

        Raises:
            Undecided: it cannot be decided here.
            rational.TooLarge: the answer has too many digits to be worked out.
        """
        if gold == answer:
            return self._by("value", True)
        pair = self._without_names(gold, answer)
        if pair is None:
            return self._by("equation", False)
        gold, answer = pair
        if self._asked.percent and _lifted(gold).op != "quantity":
            gold, answer = _in_percent(gold), _in_percent(answer)
        pair = self._without_units(gold, answer)
        if pair is None:
            return self._by("unit", False)
        right = self._same(*pair)
        ours, theirs = _lifted(gold), _lifted(answer)
        return self._by("unit", right) if ours.op == theirs.op == "quantity" and ours[2:] != theirs[2:] else right

    def _same(self, gold: Node, answer: Node) -> bool:
        if is_value(gold) and is_value(answer):
            return self._same_value(gold, answer)
        kinds = {gold.op, answer.op}
        if kinds == {"relation"}:
            return self._relations(gold, answer)
        # Not -\infty, which is a `neg` that is not a value, too.
        if matrix_of(gold) is not None or matrix_of(answer) is not None:
            return self._matrices(gold, answer)
        if kinds == {"sequence"}:
            return self._sequences(gold, answer)
        if kinds == {"sequence", "several"} and "()" in (gold.name, answer.name) and "," in (gold.name, answer.name):
            return self._by("point", self._each(gold.args, answer.args))
        if kinds <= {"several", "set"} and not _has_inequality(gold) and not _has_inequality(answer):
            return self._several(gold, answer)
        if "set" in kinds and (is_value(gold) or is_value(answer)):
            return self._by("set", self._any_order(_items(gold), _items(answer)))
        if _is_set_like(gold) and _is_set_like(answer):
            return self._sets(gold, answer)
        if gold.op == answer.op == "every":
            return self._by("set", gold.name == answer.name)
        return self._by("infinity" if kinds == {"infinity"} else "kind", gold == answer)

    def _by(self, rule: str, right: bool) -> bool:
        self.rule = rule
        return right

    # Names and units, which the question itself says.

    def _without_names(self, gold: Node, answer: Node) -> tuple[Node, Node] | None:
        """The two without `x =`, or None if the answer contradicts itself."""
        named = is_named(gold), is_named(answer)
        if named[1] and answer.name.count("=") > 1 and not self._chain_holds(answer):
            return None
        if all(named):
            answer = in_order_of(gold, answer)
            if same_name(gold, answer):
                return gold.args[-1], answer.args[-1]
        elif named[1] and gold.op != "relation":
            return gold, answer.args[-1]
        elif named[0] and answer.op != "relation":
            return gold.args[-1], answer
        elif is_calculation(answer) and gold.op != "relation" and self._chain_holds(answer):
            return gold, answer.args[-1]
        return gold, answer

    def _chain_holds(self, chain: Node) -> bool:
        parts = chain.args[1:] if is_name(chain.args[0]) else chain.args
        return all(is_value(part) for part in parts) and all(self._same_value(parts[-1], part) for part in parts[:-1])

    def _without_units(self, gold: Node, answer: Node) -> tuple[Node, Node] | None:
        """The two without units, in the gold's; None if their units differ."""
        gold, answer = _lifted(gold), _lifted(answer)
        if gold.op != "quantity" and answer.op != "quantity":
            return gold, answer
        if self._asked.unit and answer[:1] + answer[2:3] == ("quantity", self._asked.unit[0]) and is_value(gold):
            gold = Node("quantity", (gold,), *self._asked.unit)  # "How many dollars?": 5 is 5 dollars, and not 5 cents
        if gold.op != answer.op:
            other = answer if gold.op == "quantity" else gold
            if not (is_value(other) or other.op in ("several", "sequence")):
                return None
            unit = _unit_of_angle(gold if gold.op == "quantity" else answer)
            if unit and self._asked.angle not in ("", unit) and answer.op == "quantity":
                return None
            degrees = unit == _DEGREE and self._asked.angle != _DEGREE and is_value(other)
            if degrees and not self._same(_unitless(gold), _unitless(answer)):
                return _in_radians(gold), _in_radians(answer)
            return _unitless(gold), _unitless(answer)
        if {gold.name, answer.name} == {_DEGREE, _RADIAN} and self._asked.angle in ("", answer.name):
            return _in_radians(gold), _in_radians(answer)
        if gold.name != answer.name:
            return None
        given = answer.args[0]
        if answer.value != gold.value:
            given = Node("mul", (given, number(answer.value / gold.value)))
        return gold.args[0], given

    # Values.

    def _same_value(self, gold: Node, answer: Node) -> bool:
        right, given = rational.exact(gold), rational.exact(answer)
        if right is not None and given is not None:
            close = abs(right - given) <= Fraction(self._tolerance) * abs(right)
            if not close and self._asked.place is not None and _is_decimal(answer):
                unit = Fraction(1, 100) if "percent" in (gold.op, answer.op) else Fraction(1)
                if self._asked.rounds(right, given, unit):
                    return self._by("rounded", True)
            return self._by("percent" if "percent" in (gold.op, answer.op) else "number", close)
        if self._tolerance and not names(gold) and not names(answer):
            about, near = values.approximate(gold), values.approximate(answer)
            if about is not None and near is not None:
                return self._by("tolerance", abs(about - near) <= self._tolerance * abs(about))
        same = values.equal(gold, answer, self._digits)
        if same is None:
            raise Undecided
        return self._by("value", same)

    # Several answers, sets, points, matrices.

    def _several(self, gold: Node, answer: Node) -> bool:
        golds, answers = (_with_last_unit(_items(each)) for each in (gold, answer))
        named = [len({item.args[0] for item in items if is_named(item)}) for items in (golds, answers)]
        if sorted(named) == [0, len(golds)] and len(golds) == len(answers):  # a = 3, b = 4
            return self._by("order", self._each(golds, answers))
        return self._by("set" if "set" in (gold.op, answer.op) else "several", self._any_order(golds, answers))

    def _each(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        return len(golds) == len(answers) and all(map(self.same, golds, answers))

    def _any_order(self, golds: Sequence[Node], answers: Sequence[Node]) -> bool:
        """Tell whether each gold is among the answers, and each answer among the golds."""
        if not len(answers) <= 2 * len(golds) + 4:
            return False
        found = [False] * len(golds)
        for answer in answers:
            place = next((n for n, gold in enumerate(golds) if not found[n] and self.same(gold, answer)), None)
            if place is not None:
                found[place] = True
            elif not any(self.same(gold, answer) for gold in golds):
                return False
        return all(seen or any(self.same(gold, other) for n, other in enumerate(golds) if found[n])
                   for gold, seen in zip(golds, found, strict=True))  # fmt: skip

    def _sequences(self, gold: Node, answer: Node) -> bool:
        is_list = len(gold.args) > 2 and {gold.name, answer.name} <= {"()", "[]"}
        if gold.name != answer.name and not is_list:
            return self._by("brackets", False)
        return self._by("interval" if gold.name not in ("()", "[]") else "point", self._each(gold.args, answer.args))

    def _matrices(self, gold: Node, answer: Node) -> bool:
        first, second = matrix_of(gold), matrix_of(answer)
        if first is None or second is None:  # a vector, as a tuple
            ours, theirs = vector_of(gold), vector_of(answer)
            same = ours is not None and theirs is not None and self._each(ours, theirs)
            return self._by("matrix" if same else "kind", same)
        same = len(first.args) == len(second.args) and all(
            self._each(ours.args, theirs.args) for ours, theirs in zip(first.args, second.args, strict=True)
        )
        return self._by("matrix", same)

    # Sets of real numbers, equations and inequalities.

    def _sets(self, gold: Node, answer: Node) -> bool:
        if is_backwards(gold) or is_backwards(answer):  # (3, 2) is a point, and not the empty set
            return self._by("kind", False)
        ours, theirs = real_set(gold), real_set(answer)
        if not _has_inequality(gold) and not is_solved(answer):  # 2x > 6 is still to be solved
            return self._by("set", False)
        if ours and theirs and not any(ours.inside) and not any(theirs.inside):  # both empty says nothing
            parts = [_items(each) for each in (gold, answer)]
            return self._by("set", gold.op == answer.op == "several" and self._any_order(*parts))
        if ours is None or theirs is None:
            raise Undecided
        if ours.variable and theirs.variable and ours.variable != theirs.variable:
            return self._by("variable", False)
        same = ours.inside == theirs.inside and all(
            self._same_value(mine[1], yours[1]) for mine, yours in zip(ours.bounds, theirs.bounds, strict=True)
        )
        return self._by("set", same)

    def _relations(self, gold: Node, answer: Node) -> bool:
        if gold.name == answer.name == "=":
            return self._by("equation", self._equations(gold, answer))
        if real_set(gold) is not None and real_set(answer) is not None:
            return self._sets(gold, answer)
        if "=" in (gold.name, answer.name):
            return self._by("kind", False)
        if "=" not in gold.name.split() + answer.name.split() and all(map(is_value, (*gold.args, *answer.args))):
            same = same_inequality(gold, answer, self._digits)
            if same is not None:
                return self._by("inequality", same)
        if gold.name == answer.name and self._each(gold.args, answer.args):
            return self._by("inequality", True)
        raise Undecided

    def _equations(self, gold: Node, answer: Node) -> bool:
        if not all(map(is_value, (*gold.args, *answer.args))):
            return self._each(gold.args, answer.args) or self._each(gold.args, answer.args[::-1])
        same = same_equation(gold, answer, self._digits)
        if same is None:
            raise Undecided
        return same


def _has_inequality(node: Node) -> bool:
    if node.op == "relation":
        return bool(set(node.name) & set("<>!"))
    return node.op in ("several", "such that") and any(map(_has_inequality, node.args))


def _is_set_like(node: Node) -> bool:
    if node.op in ("set", "union", "intersection", "difference", "every", "such that"):
        return True
    return _has_inequality(node) or (node.op == "sequence" and len(node.args) == 2)


def _items(node: Node) -> Sequence[Node]:
    return node.args if node.op in ("several", "set") else (node,)


def _with_last_unit(items: Sequence[Node]) -> Sequence[Node]:
    """3 and 5 cm: both are lengths."""
    if not items or items[-1].op != "quantity":
        return items
    _, _, name, factor = items[-1]
    return [Node("quantity", (item,), name, factor) if is_value(item) else item for item in items]


def _lifted(node: Node) -> Node:
    """The node with the unit, the degrees or the percent sign outside the minus sign."""
    if node.op == "degree":
        return Node("quantity", node.args, _DEGREE, Fraction(1))
    if node.op == "neg" and node.args[0].op in ("quantity", "degree", "percent"):
        inner = _lifted(node.args[0])
        return inner._replace(args=(Node("neg", inner.args),))
    return node


def _in_radians(node: Node) -> Node:
    """The value of an angle; what is not in degrees is in radians."""
    if node.op == "quantity" and node.name == _DEGREE:
        return Node("degree", node.args)
    return _unitless(node)


def _unit_of_angle(node: Node) -> str:
    return node.name if node.name in (_DEGREE, _RADIAN) else ""


def _in_percent(node: Node) -> Node:
    """20 as 20%, also in a list; what has a percent sign, a unit or variables remains as it is."""
    if node.op in ("several", "set"):
        return node._replace(args=tuple(map(_in_percent, node.args)))
    return node if not is_value(node) or names(node) or _has_percent(node) else Node("percent", (node,))


def _has_percent(node: Node) -> bool:
    return node.op == "percent" or any(map(_has_percent, node.args))


def _is_decimal(node: Node) -> bool:
    """Tell whether it is a number, without anything left to calculate."""
    return node.op == "number" or (node.op in ("neg", "percent") and _is_decimal(node.args[0]))


def _unitless(node: Node) -> Node:
    return node.args[0] if node.op == "quantity" else node
