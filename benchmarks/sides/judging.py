"""Solutions of a problem with 12 tests, for `judging.py`; and what each side does with one.

A side has two functions: one makes an environment, the other judges the solution in it and returns whether the verdict
is right.
"""

import json
import os
import sys

TESTS = {
    "inputs": [f"{n}\n{' '.join(map(str, range(n)))}\n" for n in range(1, 13)],
    "outputs": [f"{sum(range(n))}\n" for n in range(1, 13)],
}
CALLS = {
    "fn_name": "total",
    "inputs": [[list(range(n))] for n in range(1, 13)],
    "outputs": [*map(sum, map(range, range(1, 13)))],
}
SUM = "n = int(input())\nnumbers = list(map(int, input().split()))\n"
SOLUTIONS = {
    "right": (SUM + "print(sum(numbers))", True),
    "right, without its import": (SUM + "print(reduce(lambda a, b: a + b, numbers))", True),
    "wrong in every test": (SUM + "print(sum(numbers) + 1)", False),
    "wrong in the last test": (SUM + "print(sum(numbers) if n < 12 else 0)", False),
    "an exception": (SUM + "print(numbers[n])", False),
    "a function, right": ("def total(numbers):\n    return sum(numbers)", True),
    "a function, wrong": ("def total(numbers):\n    return len(numbers)", False),
}
"""Programs, and whether they are right."""


def ours(name):
    """Judges a solution in `code:Taco8k`'s environment."""
    from gem_envs_code.questions import CodeQuestion

    code, right = SOLUTIONS[name]
    calls = name.startswith("a function")
    row = {"problem": "", "tests": json.dumps(CALLS if calls else TESTS)}

    def judge(env):
        env.reset(options={"index": 0})
        return env.step(f"```python\n{code}\n```").info["success"] is right

    return (lambda: CodeQuestion([row])), judge


def gem_llm(name):
    """Judges a solution in gem-llm's environment, which has no function calls."""
    from datasets import Dataset

    from gem.envs.code_env import CodeEnv

    os.environ["PATH"] = f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"
    code, right = SOLUTIONS[name]
    rows = Dataset.from_list([{"problem": "", "tests": json.dumps(TESTS)}])

    def judge(env):
        env.reset()
        return (env.step(f"```python\n{code}\n```")[1] == 1.0) is right

    return (lambda: CodeEnv(dataset=rows, dataset_name="taco")), judge
