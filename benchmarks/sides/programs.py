"""The programs of `sandbox.py`, the same for every side: each with its inputs and the outputs that are right."""

from typing import NamedTuple

SUMS = """
count = int(input())
numbers = [int(input()) for _ in range(count)]
best = total = numbers[0]
for number in numbers[1:]:
    total = max(number, total + number)
    best = max(best, total)
print(best)
"""
"""The largest sum of neighbours."""

MATRICES = """
import numpy as np
table = np.arange(10_000).reshape(100, 100) % 7
print(int(np.trace(table @ table.T)))
"""


def _case(seed: int) -> tuple[str, str]:
    numbers = [(seed * 7919 + position * 104_729) % 201 - 100 for position in range(50)]
    best = max(sum(numbers[start:end]) for start in range(50) for end in range(start + 1, 51))
    return "\n".join(map(str, [len(numbers), *numbers])), f"{best}\n"


class Program(NamedTuple):
    """A program, its inputs with the outputs that are right, and how many of them it gets right."""

    code: str
    cases: list[tuple[str, str]]
    right: int
    share: bool = True
    """Whether to find out how many; otherwise, whether it is right."""


_CASES = [_case(seed) for seed in range(12)]
_WRONG = SUMS.replace("best = max(best, total)", "best = total")
"""The sum that ends with the last number, which is the largest one of none of the cases."""

PROGRAMS = {
    "print(1)": Program("print(1)", [("", "1\n")], 1),
    "a small program with input": Program(SUMS, _CASES[:1], 1),
    "the same, wrong": Program(_WRONG, _CASES[:1], 0),
    "the same, with an exception": Program(f"{SUMS}\n1 / 0", _CASES[:1], 0),
    "12 tests, right": Program(SUMS, _CASES, 12),
    "12 tests, wrong, how many": Program(_WRONG, _CASES, 0),
    "12 tests, an exception, how many": Program(f"{SUMS}\n1 / 0", _CASES, 0),
    "12 tests, wrong, whether": Program(_WRONG, _CASES, 0, share=False),
    "12 tests, wrong in the last, whether": Program(SUMS, [*_CASES[:11], (_CASES[11][0], "no")], 11, share=False),
    "a numpy call": Program(MATRICES, [("", f"{sum((n % 7) ** 2 for n in range(10_000))}\n")], 1),
}
