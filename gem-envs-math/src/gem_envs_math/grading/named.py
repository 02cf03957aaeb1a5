"""Names around an answer: `x = 3`, `(p, q) = (3, 2)`, `|AB| = 1`, `S_1 : S_2 = 7 : 32`."""

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
