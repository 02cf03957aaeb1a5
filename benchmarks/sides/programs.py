"""The programs of `sandbox.py`, the same for every side: each with its inputs and the outputs that are right."""

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


PROGRAMS = {
    "print(1)": ("print(1)", [("", "1\n")]),
    "a small program with input": (SUMS, [_case(0)]),
    "12 tests of one program": (SUMS, [_case(seed) for seed in range(12)]),
    "a numpy call": (MATRICES, [("", f"{sum((n % 7) ** 2 for n in range(10_000))}\n")]),
}
