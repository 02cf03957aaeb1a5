"""A drawn puzzle: a function in words and in Python, and arguments for it."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

Type = Literal["int", "ints", "text", "texts"]
"""The type of an argument: an integer, a list of integers, a text of one line, or a list of such texts."""

NAME = "f"
"""The name of the function of a puzzle."""

ANY_TEXT = "abcdefghijklmnopqrstuvwxyzABCDEXYZ0123456789 ,.-"


@dataclass(frozen=True, slots=True)
class Draft:
    """A function of plain data.

    Attributes:
        words: What it returns, in whole sentences that name the arguments.
        arguments: Their names and types.
        body: The lines of its body in Python, ending with a `return`.
        inputs: Arguments to test it with, the first of them as an example; different from each other.
        facts: What was drawn, for whoever checks the result by other means.
        imports: Lines in front of the function.
    """

    words: str
    arguments: Mapping[str, Type]
    body: Sequence[str]
    inputs: Sequence[tuple[Any, ...]]
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    imports: Sequence[str] = ()

    def source(self) -> str:
        """The function, with its imports."""
        head = [*self.imports, "", ""] if self.imports else []
        return "\n".join([*head, f"def {NAME}({', '.join(self.arguments)}):", *(f"    {line}" for line in self.body)])

    def results(self) -> list[Any]:
        """What the function returns for each of the inputs. It is text of this package, and of nobody else."""
        names: dict[str, Any] = {}
        exec(compile(self.source(), "<puzzle>", "exec"), names)
        return [names[NAME](*map(_copied, given)) for given in self.inputs]


def _copied(given: Any) -> Any:
    return list(cast("list[Any]", given)) if isinstance(given, list) else given


Kind = Callable[[random.Random], Draft]
"""Draws a puzzle of one kind, which has the name of this function."""


def integer(rng: random.Random) -> int:
    """A number for a test: mostly small, of either sign."""
    return rng.choice((rng.randint(-9, 9), rng.randint(-99, 99), rng.randint(0, 9), rng.randint(-9999, 9999)))


def integers(rng: random.Random, most: int = 9) -> list[int]:
    """A list for a test: with items that occur twice, and of any length from none."""
    size, spread = rng.randint(0, most), rng.choice((3, 9, 30))
    return [rng.randint(-spread, spread) for _ in range(size)]


def line(rng: random.Random) -> str:
    """A text for a test: words of a few letters, which often occur twice."""
    alphabet = rng.choice(("ab", "aeiouxyz", "abcABC", "abcdefghijklmnopqrstuvwxyz", "aB3 ", "oO0lL1"))
    words = ("".join(rng.choice(alphabet) for _ in range(rng.randint(1, 6))) for _ in range(rng.randint(1, 4)))
    return " ".join("".join(words_.split()) or "a" for words_ in words)


EDGES: Mapping[Type, Sequence[Any]] = {
    "int": (0, 1, -1, 10, -100),
    "ints": ([], [0], [5, 5, 5], [-3], [2, 1], [9, -9, 9, -9]),
    "text": ("", "a", "Zz", "level", "one two  three", "AAAA"),
}
"""Arguments that simple mistakes get wrong."""

DRAW: Mapping[Type, Callable[[random.Random], Any]] = {"int": integer, "ints": integers, "text": line}


def inputs_for(rng: random.Random, types: Sequence[Type], count: int = 14) -> list[tuple[Any, ...]]:
    """Arguments of some types: an ordinary example, then edge cases and others, all of them different."""
    found = [tuple(DRAW[each](rng) for each in types)]
    while not all(found[0]):  # an example that shows something
        found = [tuple(DRAW[each](rng) for each in types)]
    edges = (
        [tuple(rng.choice(EDGES[each]) for each in types) for _ in range(12)]
        if len(types) > 1
        else [(edge,) for edge in EDGES[types[0]]]
    )
    for given in edges:
        if given not in found and len(found) < count // 2:
            found.append(given)
    while len(found) < count:
        given = tuple(DRAW[each](rng) for each in types)
        if given not in found:
            found.append(given)
    return found
