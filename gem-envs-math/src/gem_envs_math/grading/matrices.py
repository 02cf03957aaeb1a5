"""Matrices: also as sums, products and multiples of others, as lists of rows, and vectors as tuples."""

from collections.abc import Sequence
from itertools import product

from gem_envs_math.grading.nodes import Node, is_value

_LARGEST = 8
"""Rows and columns of a matrix that is calculated."""


def matrix_of(node: Node) -> Node | None:
    """`node` as a matrix, or None: also [[1, 2], [3, 4]], and what is calculated with matrices and numbers."""
    op, args = node.op, node.args
    if op == "matrix":
        return node
    if op == "sequence":
        is_matrix = node.name == "[]" and all(row.op == "sequence" and row.name == "[]" for row in args)
        return _matrix([row.args for row in args]) if is_matrix else None
    if op not in ("add", "mul", "neg", "div") or is_value(node):
        return None
    parts = [None if is_value(part) else matrix_of(part) for part in args]
    first, second = parts[0], parts[-1]
    if op == "neg":
        return first and _matrix([[Node("neg", (entry,)) for entry in row.args] for row in first.args])
    if op == "add":
        if first is None or second is None or _size(first) != _size(second):
            return None
        rows = zip(first.args, second.args, strict=True)
        return _matrix([[Node("add", pair) for pair in zip(*(row.args for row in both), strict=True)] for both in rows])
    if first is not None and second is not None:
        return _product(first, second) if op == "mul" else None
    matrix, scale = (first, args[-1]) if first is not None else (second, args[0])
    if matrix is None or not is_value(scale) or (op == "div" and matrix is second):
        return None
    return _matrix([[Node(op, (entry, scale)) for entry in row.args] for row in matrix.args])


def vector_of(node: Node) -> Sequence[Node] | None:
    """The entries of a row, a column or a tuple, or None."""
    if node.op == "sequence" and node.name in ("()", "[]"):
        return node.args
    matrix = matrix_of(node)
    if matrix is None or 1 not in _size(matrix):
        return None
    return [entry for row in matrix.args for entry in row.args]


def _matrix(rows: Sequence[Sequence[Node]]) -> Node | None:
    if not rows or len({len(row) for row in rows}) > 1:
        return None
    return Node("matrix", tuple(Node("row", tuple(row)) for row in rows))


def _size(matrix: Node) -> tuple[int, int]:
    return len(matrix.args), len(matrix.args[0].args)


def _product(first: Node, second: Node) -> Node | None:
    (height, inner), (other, width) = _size(first), _size(second)
    if inner != other or max(height, inner, width) > _LARGEST:
        return None
    rows: list[list[Node]] = [[] for _ in range(height)]
    for row, column in product(range(height), range(width)):
        terms = [Node("mul", (first.args[row].args[n], second.args[n].args[column])) for n in range(inner)]
        total = terms[0]
        for term in terms[1:]:
            total = Node("add", (total, term))
        rows[row].append(total)
    return _matrix(rows)
