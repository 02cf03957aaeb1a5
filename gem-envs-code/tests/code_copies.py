"""Small copies of the data sets in gem-llm's layout: `problem`, and `tests` as JSON; with solutions, to test with."""

import json
from pathlib import Path

STDIN = {
    "problem": "Read n and print its double.",
    "tests": json.dumps({"inputs": [f"{n}\n" for n in range(15)], "outputs": [f"{2 * n}\n" for n in range(15)]}),
    "solution": "print(2 * int(input()))",
}
LINES = {
    "problem": "Read two lines and print them in the other order.",
    "tests": json.dumps({"inputs": [["a", "b c"], ["x", ""]], "outputs": [["b c", "a"], ["", "x"]]}),
    "solution": "a, b = input(), input()\nprint(b)\nprint(a)",
}
FUNCTION = {
    "problem": "Write add(a, b), the sum of two lists.",
    "tests": json.dumps(
        {"fn_name": "add", "inputs": [[[1], [2]], [[0], [5]], [[], [1]]], "outputs": [[[1, 2]], [[0, 5]], [[1]]]}
    ),
    "solution": "class Solution:\n    def add(self, a: List[int], b: List[int]) -> List[int]:\n        return a + b",
}
CASES = {
    "problem": "Print the number of words of a line.",
    "tests": json.dumps(
        [
            {"type": "stdin_stdout", "fn_name": None, "input": "a b", "output": "2"},
            {"type": "stdin_stdout", "fn_name": None, "input": "one", "output": "1"},
        ]
    ),
    "solution": "print(len(input().split()))",
}
CALLS = {
    "problem": "Write half(n), half of a number.",
    "tests": json.dumps(
        {
            "test_cases": [
                {"type": "function_call", "fn_name": "half", "input": [n], "output": [n / 2]} for n in (1, 2, 3)
            ]
        }
    ),
    "solution": "def half(n):\n    return n / 2",
}
COPIES = {
    ("axon-rl/CodeContest", "train"): [STDIN],
    ("axon-rl/CodeContest", "test"): [{**STDIN, "problem": "Print the double of n."}, LINES],
    ("axon-rl/TACO-8k", "train"): [STDIN, FUNCTION],
    ("axon-rl/PrimeIntellect-15k", "train"): [CASES, CALLS, STDIN],
}
"""Name and split → rows."""


def write_json_lines(folder: Path) -> Path:
    """One JSON Lines file per split."""
    for (name, split), rows in COPIES.items():
        path = folder / name / f"{split}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def write_parquet(folder: Path) -> Path:
    """One Parquet file per split, as the hub has them; `tests` of TACO as columns instead of JSON."""
    import pyarrow
    import pyarrow.parquet

    for (name, split), rows in COPIES.items():
        path = folder / name / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return folder
