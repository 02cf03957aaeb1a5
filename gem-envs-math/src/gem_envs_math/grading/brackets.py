"""Reading brackets: groups, points, sets, matrices."""

from abc import ABC, abstractmethod

from gem_envs_math.grading.cursor import Cursor
from gem_envs_math.grading.nodes import Node
from gem_envs_math.grading.tokens import Foreign, Unreadable


class Brackets(Cursor, ABC):
    """Reads what is in brackets."""

    @abstractmethod
    def _several(self, ends: tuple[str, ...]) -> Node: ...

    @abstractmethod
    def _quantity(self) -> Node: ...

    @abstractmethod
    def _with_unit(self, value: Node) -> Node: ...

    @abstractmethod
    def _sum(self) -> Node: ...

    @abstractmethod
    def _named(self, name: str) -> Node: ...

    def _without_lists(self) -> Node:
        """A value in brackets that have no lists, so that each comma between digits separates thousands."""
        commas, self._spaced_commas = self._spaced_commas, True
        node = self._sum()
        self._spaced_commas = commas
        return node

    def _bracket(self, value: str) -> Node:
        if value in ("(", "["):
            return self._sequence(value, "")
        if value == "{":
            bars, self._bars = self._bars, 0
            node = self._several(("}",))
            if self._take(r"\choose"):
                node = Node("call", (node, self._sum()), "binomial")
            self._bars = bars
            self._need("}")
            return Node("set", node.args) if node.op == "several" else node
        if value == r"\{":
            return self._set()
        if value == "|":
            self._bars += 1
            node = self._without_lists()
            self._bars -= 1
            self._need("|")
            return Node("call", (node,), "abs")
        raise Unreadable(f"{value!r} is out of place")

    def _sequence(self, opening: str, closing: str) -> Node:
        bars, self._bars = self._bars, 0
        commas = self._spaced_commas
        before = self._found[self._at - 2] if self._at > 1 else None
        if before is not None and (before.kind == "number" or before.value in ("}", "*")):  # a factor, and no point
            self._spaced_commas = True
        ends = (closing,) if closing else (")", "]")
        node = self._several(ends)
        self._bars, self._spaced_commas = bars, commas
        end = self._value()
        if not self._take(*ends):
            raise Unreadable("a bracket is not closed")
        if node.op != "several" or node.name != ",":
            if (opening, end) not in (("(", ")"), ("[", "]"), ("(", r"\rangle")):
                raise Unreadable("brackets do not match")
            return Node("sequence", (node,), "[]") if opening == "[" and node.op == "sequence" else node
        return Node("sequence", node.args, opening + (")" if closing else end))

    def _set(self) -> Node:
        bars, self._bars = self._bars, 0
        if self._take(r"\}"):
            return Node("set")
        start = self._at
        if self._kind() in ("word", "command") and self._value() not in ("|",):
            letter = self._value()
            self._at += 1
            name = self._named(letter)
            if self._take(r"\in"):
                self._quantity()
            if self._take(r"\mid", "|", ":"):
                conditions = self._several((r"\}",))
                self._need(r"\}")
                self._bars = bars
                return Node("such that", (name, conditions))
        self._at = start
        node = self._several((r"\}",))
        self._bars = bars
        self._need(r"\}")
        return Node("set", node.args if node.op == "several" else (node,))

    def _matrix(self) -> Node:
        kind = self._value()
        if not any(
            f"{{{name}}}" in kind for name in ("matrix", "pmatrix", "bmatrix", "Bmatrix", "array", "smallmatrix")
        ):
            raise Foreign(f"\\{kind} has no meaning here")
        self._at += 1
        rows: list[list[Node]] = [[]]
        while self._kind() != "environment":
            if self._take("\\\\"):
                rows.append([])
                continue
            if self._take("&"):
                continue
            rows[-1].append(self._quantity())
            if self._value() not in ("&", "\\\\") and self._kind() != "environment":
                raise Unreadable("an entry of a matrix is not readable")
        self._at += 1
        rows = [row for row in rows if row]
        if not rows or len({len(row) for row in rows}) > 1:
            raise Unreadable("the rows of a matrix have different lengths")
        return Node("matrix", tuple(Node("row", tuple(row)) for row in rows))
