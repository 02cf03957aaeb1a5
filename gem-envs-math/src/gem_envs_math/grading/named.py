"""Names around an answer: `x = 3`, `(p, q) = (3, 2)`, `|AB| = 1`, `S_1 : S_2 = 7 : 32`."""

from collections.abc import Sequence

from gem_envs_math.grading.nodes import Node, is_value, names

_MODULUS = {"z", "w", "z_1", "z_2"}
"""|z| is asked for; |x| = 5 has two solutions."""


def is_named(node: Node) -> bool:
    """Tell whether it is `x = …` or `x in …`."""
    if node.op != "relation":
        return False
    signs = set(node.name.split())
    if signs == {"in"}:
        return len(node.args) == 2 and node.args[0].op == "name"
    return signs == {"="} and is_name(node.args[0])


def is_name(node: Node) -> bool:
    """Tell whether it says what was asked for: a variable or `f(x)`; a length (`AB`, `|AB|`), a ratio of such (`a:b`),
    a point or a tuple (`(p, q)`), a derivative (`dy/dx`)."""
    op, args = node.op, node.args
    if op == "name":
        return True
    if op == "sequence":
        return node.name == "()" and all(each.op == "name" for each in args)
    if op == "div":
        return all(is_name(each) or _is_differential(each) for each in args)
    if op == "call" and len(args) == 1:
        is_modulus = node.name == "abs" and args[0].op == "name" and args[0].name in _MODULUS
        return is_modulus or (node.name in ("abs", "sin", "cos", "tan") and _is_figure(args[0]))
    return _is_figure(node)


def _is_figure(node: Node) -> bool:
    """Tell whether it is a point, a line or a polygon: `A`, `AB`, `\\overline{AB}`, `\\angle ABC`."""
    if node.op == "mul":
        return all(map(_is_figure, node.args)) or (node.args[0].name == "m" and node.args[1].name[:1] == "\\")
    return node.op == "name" and (node.name[:1].isupper() or node.name[:1] == "\\")


def _is_differential(node: Node) -> bool:
    is_product = node.op == "mul" and all(each.op == "name" for each in node.args)
    return is_product and len(node.args) == 2 and node.args[0].name == "d"


def is_calculation(node: Node) -> bool:
    """Tell whether it is `2 + 3 = 5`."""
    if node.op != "relation" or set(node.name.split()) != {"="}:
        return False
    return is_value(node.args[0]) and not names(node.args[0])


def as_tuples(items: Sequence[Node]) -> tuple[Node, ...]:
    """`p = 5, q = 2, p = 7, q = 2` as `(p, q) = (5, 2)` and `(p, q) = (7, 2)`: what belongs together is not mixed."""
    groups: list[dict[Node, Node]] = [{}]
    for item in items:
        if item.op != "relation" or item.name != "=" or item.args[0].op != "name":
            return tuple(items)
        if item.args[0] in groups[-1]:
            groups.append({})
        groups[-1][item.args[0]] = item.args[1]
    order = tuple(groups[0])
    if len(groups) == 1 or len(order) == 1 or any(group.keys() != groups[0].keys() for group in groups):
        return tuple(items)
    names_there = Node("sequence", order, "()")
    values = [Node("sequence", tuple(map(group.__getitem__, order)), "()") for group in groups]
    return tuple(Node("relation", (names_there, value), "=") for value in values)


def in_order_of(gold: Node, answer: Node) -> Node:
    """`(q, p) = (2, 5)` as `(p, q) = (5, 2)`, if the gold names them so."""
    names_there, values = answer.args[0], answer.args[-1]
    if gold.args[0] == names_there or not names_there.op == values.op == gold.args[0].op == "sequence":
        return answer
    given = dict(zip(names_there.args, values.args, strict=False))
    if given.keys() != set(gold.args[0].args) or not len(given) == len(values.args) == len(names_there.args):
        return answer
    ordered = values._replace(args=tuple(map(given.__getitem__, gold.args[0].args)))
    return answer._replace(args=(gold.args[0], ordered))


def same_name(gold: Node, answer: Node) -> bool:
    """Tell whether both name the same: also `y = 2x + 3` and `f(x) = 2x + 3`."""
    if gold.args[0] == answer.args[0]:
        return gold.name[:2] == answer.name[:2]
    if gold.name != "=" or answer.name != "=":
        return False
    letters = [node.args[0].name for node in (gold, answer)]
    others = [name for name in letters if name != "y"]
    variables = names(gold.args[1]) | names(answer.args[1])
    if "y" not in letters or len(others) != 1 or "y" in variables:
        return False
    return any(others[0].endswith(f"( {variable} )") for variable in variables)
