"""A row in each format, as its data set's own loader gets it, and programs for it: one that is right, one that is not.

Written for GEM; of each data set only the names and the kinds of columns are as they are there.
"""

import base64
import json
import pickle
import zlib
from typing import Any, NamedTuple

import format_texts


class Sample(NamedTuple):
    """A row in a format."""

    row: dict[str, Any]
    good: str
    wrong: str
    has_gold: bool = True
    """Whether the row has a solution in Python."""


DOUBLE = "print(2 * int(input()))"
ONCE = "print(int(input()))"
ADD = "def add(a, b):\n    return a + b"
BOTH = "def add(a, b):\n    return [a, b]"
METHOD = "class Solution:\n    def add(self, a: List[int], b: int) -> List[int]:\n        return a + [b]"
METHOD_WRONG = METHOD.replace("a + [b]", "[b] + a")


def packed(tests: Any) -> str:
    """Tests as LiveCodeBench keeps private ones."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


def _pairs(**more: Any) -> list[dict[str, Any]]:
    return [{"input": f"{n}\n", "output": f"{2 * n}\n", **more} for n in (2, 5, 11)]


_COLUMNS = {"inputs": ["2\n", "5\n", "11\n"], "outputs": ["4\n", "10\n", "22\n"]}
_CALLS = {"fn_name": "add", "inputs": [[[1], 2], [[], 0]], "outputs": [[1, 2], [0]]}
_FUNCTIONAL = [
    {"input": "[1, 4]\n2", "output": "[1, 4, 2]", "testtype": "functional"},
    {"input": "[]\n0", "output": "[0]", "testtype": "functional"},
]
_STARTER = "class Solution:\n    def add(self, a: List[int], b: int) -> List[int]:\n        "
LIVE = {
    "question_title": "Double",
    "question_content": "Read n and print its double.",
    "platform": "atcoder",
    "question_id": "abc001_a",
    "contest_id": "abc001",
    "contest_date": "2024-01-06T00:00:00",
    "starter_code": "",
    "difficulty": "easy",
    "public_test_cases": json.dumps(_pairs(testtype="stdin")[:1]),
    "private_test_cases": json.dumps(_pairs(testtype="stdin")[1:]),
    "metadata": "{}",
}
_LIVE_CALLS = {
    **LIVE,
    "platform": "leetcode",
    "starter_code": _STARTER,
    "public_test_cases": json.dumps(_FUNCTIONAL[:1]),
    "private_test_cases": packed(_FUNCTIONAL[1:]),
    "metadata": '{"func_name": "add"}',
}
_HUMAN_EVAL = {
    "task_id": "HumanEval/900",
    "prompt": 'def add(a, b):\n    """ The sum.\n    >>> add(1, 2)\n    3\n    """\n',
    "canonical_solution": "    return a + b\n",
    "test": format_texts.CHECK,
    "entry_point": "add",
}
_MBPP = {
    "task_id": 900,
    "text": "Write a function to add two things.",
    "code": "def add(a, b):\r\n  return a + b",
    "test_list": ["assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'", "assert add([1], [2]) == [1, 2]"],
    "test_setup_code": "",
    "challenge_test_list": [],
}
_NODES = {
    "task_id": 901,
    "text": "Write a function to add the values of two nodes.",
    "code": format_texts.NODES,
    "test_list": ["assert add(one, two) == 3", "assert add(two, two) == 4"],
    "test_setup_code": "one = Node(1)\ntwo = Node(2)",
    "challenge_test_list": [],
}
_CONTEST = {
    "name": "900_A. Double",
    "description": "Read n and print its double.",
    "public_tests": {"input": ["2\n"], "output": ["4\n"]},
    "private_tests": {"input": ["5\n", "11\n"], "output": ["10\n", "22\n"]},
    "generated_tests": {"input": [], "output": []},
    "source": 2,
    "difficulty": 7,
    "solutions": {"language": [2, 1, 3], "solution": ["int main() {}", "print 2 * input()", DOUBLE]},
    "incorrect_solutions": {"language": [3], "solution": [ONCE]},
    "time_limit": {"seconds": 2, "nanos": 0},
    "input_file": "",
    "output_file": "",
}
_CODEFORCES = {
    "id": "900/A",
    "title": "Double",
    "description": "Read n and print its double.",
    "input_format": "One integer n.",
    "output_format": "Its double.",
    "interaction_format": None,
    "note": None,
    "examples": _pairs()[:1],
    "time_limit": 2.0,
    "official_tests": _pairs(),
    "official_tests_complete": True,
    "input_mode": "stdio",
    "generated_checker": None,
    "executable": True,
}
_KOD = {
    "version": "v1.1",
    "style": "instruct",
    "subset": "Prefill",
    "question_id": "Prefill_900_I",
    "question": "Write a function that adds two things and refuses None.",
    "solution": "def add(a, b):\n    if a is None:\n        raise ValueError('no number')\n    return a + b",
    "test": format_texts.KOD,
    "test_info": [{"function_name": "add", "function_declaration": "def add(a, b):", "docstring": ""}],
}
_VERIFIED = {
    "source": "apps",
    "task_type": "verifiable_code",
    "in_source_id": "900",
    "prompt": "Solve the following problem in Python:\n\nRead n and print its double.",
    "gold_standard_solution": f"```python\n{DOUBLE}\n```",
    "verification_info": {"language": "python", "test_cases": _pairs(fn_name=None, type="stdin_stdout")},
    "metadata": {"difficulty": "easy"},
}
_INFO = {
    "language": "python",
    "test_cases": [
        {"fn_name": "add", "type": "function_call", "input": [[1], 2], "output": [1, 2]},
        {"fn_name": "add", "type": "function_call", "input": [[], 0], "output": [0]},
    ],
}
_STDIN = "Read n and print its double."

SAMPLES: dict[str, Sample] = {
    "GEM: inputs and outputs": Sample({"problem": _STDIN, "tests": _COLUMNS, "solution": DOUBLE}, DOUBLE, ONCE),
    "GEM: calls": Sample(
        {
            "problem": "Add.",
            "tests": [{"function": "add", "arguments": [1, 2], "result": 3}],
            "solution": ADD,
        },
        ADD,
        BOTH,
    ),
    "GEM: assertions": Sample({"problem": "Add.", "tests": _MBPP["test_list"], "solution": ADD}, ADD, BOTH),
    "gem-llm's TACO": Sample({"problem": _STDIN, "tests": json.dumps(_COLUMNS)}, DOUBLE, ONCE, False),
    "gem-llm's PrimeIntellect": Sample(
        {"problem": _STDIN, "tests": json.dumps(_pairs(fn_name=None, type="stdin_stdout"))}, DOUBLE, ONCE, False
    ),
    "HumanEval": Sample(_HUMAN_EVAL, ADD, BOTH),
    "HumanEval, renamed": Sample(
        {
            "question": _HUMAN_EVAL["prompt"],
            "tests": format_texts.CHECK,
            "entry_point": "add",
            "canonical_solution": "    return a + b",
        },
        ADD,
        BOTH,
    ),
    "HumanEval with a helper": Sample(
        {
            **_HUMAN_EVAL,
            "prompt": "def encode(s):\n    return s[::-1]\n\n\ndef decode(s):\n    ''' Undoes encode. '''\n",
            "canonical_solution": "    return s[::-1]\n",
            "test": "def check(candidate):\n    for s in ('abc', ''):\n        assert candidate(encode(s)) == s\n",
            "entry_point": "decode",
        },
        "def decode(s):\n    return s[::-1]",
        "def decode(s):\n    return s",
    ),
    "HumanEval+": Sample({**_HUMAN_EVAL, "test": format_texts.PLUS}, ADD, BOTH),
    "HumanEval+ with a reference": Sample({**_HUMAN_EVAL, "test": format_texts.CROSS}, ADD, BOTH),
    "MBPP": Sample(_MBPP, ADD, BOTH),
    "MBPP with set-up code": Sample(_NODES, _NODES["code"], _NODES["code"].replace("+", "-")),
    "MBPP, sanitised": Sample(
        {
            "source_file": "Benchmark Questions Verification V2.ipynb",
            "task_id": 902,
            "prompt": "Write a function to find a third of a number.",
            "code": "def third(n):\n  return n / 3",
            "test_imports": ["import math"],
            "test_list": ["assert math.isclose(third(1), 0.3333, rel_tol=0.001)", "assert third(6) == 2"],
        },
        "def third(n): return n / 3",
        "def third(n): return n // 3",
    ),
    "MBPP+": Sample({**_MBPP, "prompt": _MBPP["text"], "test": format_texts.SET_EQUAL, "test_imports": []}, ADD, BOTH),
    "LiveCodeBench": Sample(LIVE, DOUBLE, ONCE, False),
    "LiveCodeBench, packed": Sample(
        {**LIVE, "private_test_cases": packed(_pairs(testtype="stdin")[1:])},
        DOUBLE,
        "n = int(input())\nprint(n + 2)",
        False,
    ),
    "LiveCodeBench, functional": Sample(_LIVE_CALLS, METHOD, METHOD_WRONG, False),
    "APPS": Sample(
        {
            "problem_id": 900,
            "question": _STDIN,
            "solutions": json.dumps([DOUBLE, "n = int(input())\nprint(n + n)"]),
            "input_output": json.dumps(_COLUMNS),
            "difficulty": "interview",
            "url": "",
            "starter_code": "",
        },
        DOUBLE,
        ONCE,
    ),
    "APPS, functions": Sample(
        {
            "problem_id": 901,
            "question": "Append.",
            "solutions": json.dumps([METHOD]),
            "input_output": json.dumps({**_CALLS, "outputs": [[[1, 2]], [[0]]]}),
            "difficulty": "introductory",
            "url": "",
            "starter_code": _STARTER,
        },
        METHOD,
        METHOD_WRONG,
    ),
    "TACO": Sample(
        {
            "question": _STDIN,
            "starter_code": "",
            "input_output": json.dumps({"inputs": ["2\n", ["5"]], "outputs": ["4\n", ["10"]]}),
            "difficulty": "EASY",
            "solutions": json.dumps([DOUBLE]),
            "raw_tags": "[]",
            "name": None,
            "source": "codeforces",
            "time_limit": "2 seconds",
            "picture_num": None,
        },
        DOUBLE,
        ONCE,
    ),
    "CodeContests": Sample(_CONTEST, DOUBLE, ONCE),
    "CodeContests, as records": Sample(
        {
            **_CONTEST,
            **{f"{kind}_tests": _pairs() for kind in ("public", "private", "generated")},
            "solutions": [
                {"language": "CPP", "solution": "int main() {}"},
                {"language": "PYTHON3", "solution": DOUBLE},
            ],
        },
        DOUBLE,
        ONCE,
    ),
    "open-r1's Codeforces": Sample(_CODEFORCES, DOUBLE, ONCE, False),
    "open-r1's Codeforces with a checker": Sample(
        {
            **_CODEFORCES,
            "official_tests": [{"input": "5\n", "output": "1 4\n"}],
            "generated_checker": format_texts.CHECKER,
        },
        "n = int(input())\nprint(n - 2, 2)",
        "n = int(input())\nprint(n, 0)",
        False,
    ),
    "open-r1's verifiable problems": Sample(_VERIFIED, DOUBLE, ONCE),
    "SYNTHETIC-1": Sample(
        {**_VERIFIED, "gold_standard_solution": METHOD, "verification_info": json.dumps(_INFO)}, METHOD, METHOD_WRONG
    ),
    "SYNTHETIC-1, Python's text": Sample(
        {**_VERIFIED, "verification_info": repr(_VERIFIED["verification_info"])}, DOUBLE, ONCE
    ),
    "DeepCoder, lcbv5": Sample(
        {
            "problem": "Append.",
            "starter_code": _STARTER,
            "tests": json.dumps(_FUNCTIONAL),
            "metadata": {"func_name": "add"},
        },
        METHOD,
        METHOD_WRONG,
        False,
    ),
    "DeepCoder, codeforces": Sample(
        {"problem": _STDIN, "tests": json.dumps(_pairs(testtype="stdin_stdout"))}, DOUBLE, ONCE, False
    ),
    "DeepCoder, primeintellect": Sample(
        {"problem": "Append.", "solutions": [f"```python\n{METHOD}\n```"], "tests": json.dumps(_INFO["test_cases"])},
        METHOD,
        METHOD_WRONG,
    ),
    "KodCode": Sample(_KOD, ADD, BOTH),
    "KodCode with pytest": Sample({**_KOD, "test": format_texts.PYTEST}, _KOD["solution"], ADD),
    "LeetCodeDataset": Sample(
        {
            "task_id": "add",
            "problem_description": "Append.",
            "starter_code": _STARTER,
            "prompt": "import random\nfrom typing import *\n",
            "completion": METHOD,
            "entry_point": "Solution().add",
            "test": format_texts.LEET,
        },
        METHOD,
        METHOD_WRONG,
    ),
    "BigCodeBench": Sample(
        {
            "task_id": "BigCodeBench/900",
            "complete_prompt": "def task_func(a, b):\n    '''Add.'''\n",
            "instruct_prompt": "Add two things. Start with:\n```\ndef task_func(a, b):\n```",
            "canonical_solution": "    return a + b",
            "code_prompt": "def task_func(a, b):\n",
            "test": format_texts.UNIT,
            "entry_point": "task_func",
            "libs": "[]",
        },
        "def task_func(a, b): return a + b",
        "def task_func(a, b): return [a, b]",
    ),
    "AceCode": Sample(
        {"id": "900", "source": "oss", "question": "Add.", "test_cases": _MBPP["test_list"]}, ADD, BOTH, False
    ),
    "verl": Sample(
        {
            "data_source": "taco",
            "prompt": [{"role": "system", "content": "Think."}, {"role": "user", "content": _STDIN}],
            "ability": "code",
            "reward_model": {"style": "rule", "ground_truth": json.dumps(_COLUMNS)},
            "extra_info": {"index": 0},
        },
        DOUBLE,
        ONCE,
        False,
    ),
}
"""Format → a row in it."""
