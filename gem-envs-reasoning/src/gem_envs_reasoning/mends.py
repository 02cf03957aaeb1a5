"""Datasets of reasoning-gym that do not give the same item for the same seed in every process, mended.

Some walk through a set of texts, whose order is another one in every process; some draw from the global generators.
Nothing here changes what a question asks.
"""

import ast
import random
import re
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy
from reasoning_gym.algebra import polynomial_multiplication
from reasoning_gym.algorithmic import binary_matrix, pool_matrix, spiral_matrix, string_insertion
from reasoning_gym.code.codeio import CodeIODataset
from reasoning_gym.code.contrib.bfit.Compiler import Optimizer
from reasoning_gym.games import n_queens, tower_of_hanoi
from reasoning_gym.induction.list_functions import generators

from gem_envs_reasoning import quicker

_list_functions = random.Random()
_PLAIN = (
    "abc|bisect|collections|copy|dataclasses|decimal|enum|fractions|functools|heapq|itertools|json|math|operator|random|"
    "re|string|typing"
)
_UNSTEADY = re.compile(
    rf"""^\s*(?:import|from)\s+(?!(?:{_PLAIN})\b)|import\ random\ as|from\ random\ import\ (?!Random\s*$)
    | (?<![\w.])random\.(?!Random\)) | \bRandom\(
    | \b(?:set|frozenset)\b | hash | \{{[^:{{}}]*\bfor\b[^:{{}}]*\}} | (?:[=(\[,]|\bin|\breturn)\s*\{{[^:{{}}]+\}}
    | \b(?:id|open|print|input|exec|eval)\(
    | \bis\ (?:not\ )?["'(0-9] | \\[^nrt'"\\\n]""",
    re.MULTILINE | re.VERBOSE,
)
"""What a program of codeio may not hold: a module that does more than compute, a generator that it was not given, a
set, a hash, input or output, and what Python warns of."""


class Sorted(frozenset[str]):
    """A set of texts that is walked through in their order."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))

    def __sub__(self, other: Any) -> "Sorted":
        return Sorted(super().__sub__(other))


def _monomials(*arguments: Any) -> Iterable[Any]:
    found: Iterable[Any] = sympy.itermonomials(*arguments)
    return sorted(found, key=str)


def _say_nothing(*_: Any, **__: Any) -> None:
    """Instead of `print`: the compiler of `bf` prints a dot for each program, `tower_of_hanoi` wrong moves."""


class _NumPy:
    """NumPy with a generator of its own in the place of the global one; this dataset seeds it for each item."""

    random = np.random.RandomState()

    def loadtxt(self, lines: list[str], dtype: Any) -> Any:
        """As NumPy's, which warns of an answer without numbers."""
        if not any(line.partition("#")[0].strip() for line in lines):
            raise ValueError("no numbers")
        return np.loadtxt(lines, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def mend_modules() -> None:
    """Mend what is mended once for the process."""
    quicker.speed_up()
    setattr(polynomial_multiplication, "itermonomials", _monomials)  # noqa: B010
    setattr(pool_matrix, "np", _NumPy())  # noqa: B010
    for module in (Optimizer, tower_of_hanoi):
        setattr(module, "print", _say_nothing)  # noqa: B010
    for module in (binary_matrix, n_queens, spiral_matrix, string_insertion):
        # They read an answer as a Python list; an answer is no program.
        setattr(module, "eval", ast.literal_eval)  # noqa: B010
    setattr(generators, "random", SimpleNamespace(randint=_list_functions.randint))  # noqa: B010


def mend(dataset: Any) -> None:
    """Mend what a new dataset holds."""
    if hasattr(dataset, "letters") and isinstance(dataset.letters, set):
        dataset.letters = Sorted(dataset.letters)
    if hasattr(dataset, "word_graphs"):
        dataset.word_graphs = {
            length: {word: sorted(near) for word, near in graph.items()}
            for length, graph in dataset.word_graphs.items()
        }
    if isinstance(dataset, CodeIODataset):
        rows: list[dict[str, str]] = vars(CodeIODataset)["_jsonl_data"]
        programs = [row for row in rows if not _UNSTEADY.search(f"{row['code_sample']}\n{row['input_generator']}")]
        if not programs:
            raise ValueError(f"no program of difficulty {dataset.config.difficulty} is left")
        vars(dataset)["programs"] = programs
    for part in getattr(dataset, "datasets", {}).values():
        mend(part)


def prepare(dataset: Any, seed: int) -> None:
    """Set what the next item is drawn from and the dataset keeps outside of itself."""
    _list_functions.seed(seed)
    for part in (dataset, *getattr(dataset, "datasets", {}).values()):
        if isinstance(part, CodeIODataset):
            # The class keeps one table for all its instances, whatever their difficulty.
            CodeIODataset._jsonl_data = vars(part)["programs"]  # pyright: ignore[reportPrivateUsage]
