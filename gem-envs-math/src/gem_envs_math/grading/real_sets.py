"""Sets of real numbers: intervals, unions, inequalities and `x != 2` in one form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gem_envs_math.grading.nodes import Node, is_value, names, number
from gem_envs_math.grading.values import approximate


@dataclass(frozen=True, slots=True)
class RealSet:
    """A set of real numbers that changes at few places.

    `inside` says whether it has the numbers below the first bound, the first bound, those up to the second bound, the
    second bound, and so on; it has one more than twice as many entries as `bounds`.
    """

    bounds: tuple[tuple[float, Node], ...]
    inside: tuple[bool, ...]
    variable: str = ""
    """The variable whose values these are, if one was named."""


def real_set(node: Node) -> RealSet | None:
    """The set of real numbers that `node` means; None if it means none, or has a form that is not known here."""
    op, args = node.op, node.args
    if op == "every" and node.name == "R":
        return RealSet((), (True,))
    if op == "sequence" and len(args) == 2:
        return _interval(node)
    if op == "set":
        return _union(map(_point, args)) if args else RealSet((), (False,))
    if op in ("union", "intersection"):
        return _combined(real_set(args[0]), real_set(args[1]), _either if op == "union" else _both)
    if op == "difference":
        return _combined(real_set(args[0]), real_set(args[1]), lambda first, second: first and not second)
    if op == "relation":
        return _relation(node)
    if op == "such that":
        found = real_set(args[1])
        return None if found is None or found.variable not in ("", args[0].name) else _anonymous(found)
    if op == "several" and all(part.op in ("relation", "several") for part in args):
        return _several(node)
    return None


def is_solved(node: Node) -> bool:
    """Tell whether all conditions are on a variable itself, as in `x < 3`, and not on `2x` or `|x|`."""
    if node.op == "relation":
        return all(part.op == "name" or not names(part) for part in node.args)
    return all(map(is_solved, node.args))


def is_backwards(node: Node) -> bool:
    """Tell whether `node` has the form of an interval and is empty, so that it is a point such as (3, 2)."""
    interval = _interval(node) if node.op == "sequence" and len(node.args) == 2 else None
    return interval is not None and not any(interval.inside)


def _several(node: Node) -> RealSet | None:
    parts = [real_set(part) for part in node.args]
    if node.name == "or":
        return _union(parts)
    both = parts[0]
    for part in parts[1:]:
        both = _combined(both, part, _both)
    # x < 1, x > 3: nobody means the empty set
    return _union(parts) if node.name == "," and both is not None and not any(both.inside) else both


def _relation(node: Node) -> RealSet | None:
    signs = node.name.split()
    if signs == ["in"]:
        found = real_set(node.args[1])
        is_name = node.args[0].op == "name"
        return RealSet(found.bounds, found.inside, node.args[0].name) if found is not None and is_name else None
    places = [place for place, part in enumerate(node.args) if names(part)]
    if len(places) != 1 or len(signs) > 2 or any(sign not in _ALLOWED for sign in signs):
        return None
    variable = places[0]
    names_there = names(node.args[variable])
    if len(names_there) != 1:
        return None
    found: RealSet | None = RealSet((), (True,))
    for place, part in enumerate(node.args):
        if place == variable:
            continue
        # Every sign between this operand and the variable counts; chains that change direction are not read.
        between = signs[min(place, variable) : max(place, variable)]
        sign = "<" if "<" in between and set(between) <= {"<", "<="} else between[0]
        if sign == ">=" and ">" in between:
            sign = ">"
        if len({each[0] for each in between}) > 1:
            return None
        solutions = _solutions(node.args[variable], _TURNED[sign] if place < variable else sign, part)
        found = _combined(found, solutions, _both)
    return None if found is None else RealSet(found.bounds, found.inside, names_there.pop())


def _solutions(operand: Node, sign: str, bound: Node) -> RealSet | None:
    """The x with `operand sign bound`, where the operand is x, ax + b or |ax + b|."""
    if operand.op == "name":
        return _half(bound, sign)
    if operand.op == "call" and operand.name == "abs":
        inner, value = operand.args[0], approximate(bound) if is_value(bound) else None
        if value is None or value.real < 0:  # always true, or never
            return None
        sides = _solutions(inner, sign, bound), _solutions(inner, _TURNED[sign], Node("neg", (bound,)))
        return _combined(*sides, _either if sign in (">", ">=", "=") else _both)
    line = _line(operand) if is_value(operand) and len(names(operand)) == 1 else None
    slope = approximate(line[0]) if line is not None else None
    if line is None or slope is None or slope.imag or not slope.real or not is_value(bound):
        return None
    root = Node("div", (Node("add", (bound, Node("neg", line[1:]))), line[0]))
    return _half(root, sign if slope.real > 0 else _TURNED[sign])


def _line(node: Node) -> tuple[Node, ...] | None:
    """Slope and value at 0 of sums of multiples of the variable and constants; None for anything else."""
    op, args = node.op, node.args
    if not names(node):
        return number(0), node
    if op == "name":
        return number(1), number(0)
    if op in ("neg", "add"):
        lines = [line for line in map(_line, args) if line is not None]
        return tuple(Node(op, parts) for parts in zip(*lines, strict=True)) if len(lines) == len(args) else None
    if op not in ("mul", "div") or all(map(names, args)) or (op == "div" and names(args[1])):
        return None
    constant, other = args if names(args[1]) else args[::-1]
    line = _line(other)
    return line and tuple(Node(op, (part, constant)) for part in line)


_ALLOWED = ("<", "<=", ">", ">=", "!=", "=")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}
_INSIDE = {
    "<": (True, False, False), "<=": (True, True, False), ">": (False, False, True), ">=": (False, True, True),
    "!=": (True, False, True), "=": (False, True, False),
}  # fmt: skip


def _half(bound: Node, sign: str) -> RealSet | None:
    """The numbers x with `x sign bound`."""
    if bound.op == "infinity" or (bound.op == "neg" and bound.args[0].op == "infinity"):
        below = (bound.op == "infinity") == (sign[0] == "<")
        return RealSet((), (True,)) if below and sign[0] in "<>" else None
    value = approximate(bound) if is_value(bound) else None
    if value is None or abs(value.imag) > 1e-12:
        return None
    return RealSet(((value.real, bound),), _INSIDE[sign])


def _point(node: Node) -> RealSet | None:
    return _half(node, "=")


def _interval(node: Node) -> RealSet | None:
    low, high = node.args
    above = _half(low, ">" if node.name[0] == "(" else ">=")
    return _combined(above, _half(high, "<" if node.name[1] == ")" else "<="), _both)


def _union(parts: Iterable[RealSet | None]) -> RealSet | None:
    found: RealSet | None = RealSet((), (False,))
    for part in parts:
        found = _combined(found, part, _either)
    return found


def _anonymous(found: RealSet) -> RealSet:
    return RealSet(found.bounds, found.inside)


def _combined(first: RealSet | None, second: RealSet | None, operation: Callable[[bool, bool], bool]) -> RealSet | None:
    if first is None or second is None or (first.variable and second.variable and first.variable != second.variable):
        return None
    bounds: list[tuple[float, Node]] = []
    for value, node in sorted((*first.bounds, *second.bounds), key=lambda bound: bound[0]):
        if not bounds or not _near(bounds[-1][0], value):
            bounds.append((value, node))
    inside = [operation(a, b) for a, b in zip(_refined(first, bounds), _refined(second, bounds), strict=True)]
    # A bound where nothing changes is none.
    kept: list[tuple[float, Node]] = []
    flags = [inside[0]]
    for place, bound in enumerate(bounds):
        at, after = inside[2 * place + 1], inside[2 * place + 2]
        if not flags[-1] == at == after:
            kept.append(bound)
            flags += [at, after]
    return RealSet(tuple(kept), tuple(flags), first.variable or second.variable)


def _refined(part: RealSet, bounds: list[tuple[float, Node]]) -> list[bool]:
    """`part.inside` for more bounds."""
    flags = [part.inside[0]]
    place = 0
    for value, _ in bounds:
        if place < len(part.bounds) and _near(part.bounds[place][0], value):
            flags += part.inside[2 * place + 1 : 2 * place + 3]
            place += 1
        else:
            flags += [flags[-1], flags[-1]]
    return flags


def _near(first: float, second: float) -> bool:
    return abs(first - second) <= 1e-12 * max(1.0, abs(first), abs(second))


def _both(first: bool, second: bool) -> bool:
    return first and second


def _either(first: bool, second: bool) -> bool:
    return first or second
