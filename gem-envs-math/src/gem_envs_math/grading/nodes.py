"""The meaning of an answer as a tree."""

from fractions import Fraction
from typing import NamedTuple


class Node(NamedTuple):
    """A part of an answer.

    A value is one of these, with the operations `add`, `mul`, `div`, `neg`, `pow`, `root` (radicand, degree), `call`
    (by the name in `name`), `degree` and `percent` in between:

    - `number`, with `value`;
    - `name`: a variable, or one of the constants `pi`, `e`, `i`, which are `constant`.

    Other answers are `several` (by `name`: `,`, `and` or `or`), `set`, `sequence` (`name` has its brackets), `matrix`
    (its `args` are rows), `relation` (`name` has the signs, with spaces in between), `union`, `intersection`,
    `difference`, `such that` (a variable and its conditions), `every` (the numbers of `name`) and `infinity`.
    """

    op: str
    args: "tuple[Node, ...]" = ()
    name: str = ""
    value: Fraction = Fraction(0)


def number(value: int | Fraction) -> Node:
    """A number."""
    return Node("number", (), "", Fraction(value))


def is_value(node: Node) -> bool:
    """Tell values from sets, points and the like."""
    return node.op in _VALUES and all(map(is_value, node.args))


_VALUES = {
    "number", "name", "constant", "add", "mul", "div", "neg", "pow", "root", "call", "degree", "percent",
}  # fmt: skip


def names(node: Node) -> set[str]:
    """The variables of `node`."""
    if node.op == "name":
        return {node.name}
    found: set[str] = set()
    for each in node.args:
        found |= names(each)
    return found
