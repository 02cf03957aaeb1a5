"""Rows in the formats of data sets: a right program earns 1, a wrong one less, and one that does nothing too."""

import base64
import doctest
import json
import math
import pickle
import tracemalloc
import zlib

import pytest
from format_rows import ADD, LIVE, SAMPLES
from format_texts import CHECK

from gem.data import literals
from gem.errors import ConfigError, Fault
from gem_envs_code.formats import columns
from gem_envs_code.formats.livecodebench import unpacked
from gem_envs_code.formats.table import task_of
from gem_envs_code.grader import block
from gem_envs_code.questions import CodeQuestion


def reward(row, program):
    env = CodeQuestion([row])
    env.reset(seed=0)
    return env.step(block(program)).reward


@pytest.mark.parametrize("name", SAMPLES)
def test_a_row_in_this_format_rewards_right_programs_only(name):
    row, good, wrong, has_gold = SAMPLES[name]
    assert reward(row, good) == 1.0
    assert reward(row, wrong) == 0.0
    assert reward(row, "pass") == 0.0
    env = CodeQuestion([row])
    question, _ = env.reset(seed=0)
    assert len(question.partition("\n\nWrite ")[0]) > 3
    gold = env.expert_action()
    assert (gold is not None) == has_gold
    if gold:
        assert env.step(gold).reward == 1.0


@pytest.mark.parametrize("name", ["TACO", "LiveCodeBench, packed", "CodeContests", "KodCode", "MBPP"])
@pytest.mark.parametrize("suffix", [".jsonl", pytest.param(".parquet", marks=pytest.mark.full)])
def test_a_file_may_be_in_any_of_these_formats(name, suffix, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    row, good, wrong, _ = SAMPLES[name]
    path = tmp_path / f"rows{suffix}"
    if suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow

        parquet.write_table(pyarrow.Table.from_pylist([row, row]), path)
    else:
        path.write_text(json.dumps(row))
    assert [task_rewards(str(path), program) for program in (good, wrong)] == [1.0, 0.0]


def task_rewards(data, program):
    env = CodeQuestion(data)
    env.reset(seed=0)
    return env.step(block(program)).reward


def test_columns_of_no_format_are_an_error_that_lists_the_formats():
    with pytest.raises(ConfigError, match=r"columns task, answer.*\n- LiveCodeBench \(question_content") as raised:
        CodeQuestion([{"task": "?", "answer": "1"}]).reset(seed=0)
    assert str(raised.value).count("\n- ") >= 12


PLUS = SAMPLES["HumanEval+"]
NOTHING = {
    "no tests": {"problem": "?", "tests": []},
    "an empty column": {"problem": "?", "tests": ""},
    "no tests of APPS": {"question": "?", "input_output": "", "solutions": ""},
    "outputs that are empty": {"problem": "?", "tests": {"inputs": ["1", "2"], "outputs": ["", "\n"]}},
    "results that are None": {"problem": "?", "tests": {"fn_name": "f", "inputs": [[1], [2]], "outputs": [None, None]}},
    "a check that is never called": {"problem": "?", "tests": CHECK},
    "code without an assertion": {"problem": "?", "tests": ["add(1, 2)"]},
    "assertions about nothing": {"problem": "?", "tests": ["assert 1 + 1 == 2"]},
    "a class that unittest never runs": {
        "problem": "?",
        "tests": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 2)",
    },
    "a tolerance without an end": {"problem": "?", "tests": {"inputs": ["1"], "outputs": ["2"]}, "tolerance": math.inf},
    "a tolerance that is no number": {
        "problem": "?",
        "tests": {"inputs": ["1"], "outputs": ["2"]},
        "tolerance": math.nan,
    },
    "an endless tolerance of pytest": {
        "question": "?",
        "test": "import pytest\ndef test_add():\n    assert add(1, 2) == pytest.approx(3, abs=float('inf'))",
    },
    "an endless tolerance of math": {"problem": "?", "tests": ["assert math.isclose(f(1), 2, rel_tol=math.inf)"]},
    "an endless tolerance of EvalPlus": {**PLUS.row, "test": PLUS.row["test"].replace("exp, 0)", "exp, inf)")},
    "a tolerance below nothing": {"problem": "?", "tests": ["assert f(1) == pytest.approx(2, rel=-1e-6)"]},
    "functions for pytest": {"problem": "?", "tests": "def test_add():\n    assert add(1, 2) == 3"},
}


def test_infinity_is_near_itself_only():
    row = {**PLUS.row, "test": PLUS.row["test"].replace("results = [3, 0.3", "results = [3, float('inf')")}
    assert "float('inf')" in row["test"]
    infinite = "def add(a, b):\n    return {} if isinstance(a, float) else a + b"
    assert [reward(row, infinite.format(said)) for said in ("float('inf')", "7.0", "-float('inf')")] == [1.0, 0.0, 0.0]
    test = "import pytest\ndef test_f():\n    assert f(1) == pytest.approx([float('inf'), 2])"
    returned = "def f(n): return [float('{}'), 2]"
    assert [reward({"question": "?", "test": test}, returned.format(said)) for said in ("inf", "7", "-inf")] == [
        1,
        0,
        0,
    ]


@pytest.mark.parametrize("name", NOTHING)
def test_a_row_whose_tests_check_nothing_is_a_fault_before_anything_is_asked(name):
    with pytest.raises(Fault, match=r"no tests|checks? nothing"):
        CodeQuestion([NOTHING[name]]).reset(seed=0)


CANNOT = {
    "files": ({"description": "?", "public_tests": {}, "input_file": "input.txt"}, "input.txt"),
    "interaction": ({"description": "?", "official_tests": [], "interaction_format": "Ask."}, "interactive"),
    "an opinion": ({"prompt": "?", "verification_info": "{}", "task_type": "llm_judgeable"}, "llm_judgeable"),
    "a fixture": ({"question": "?", "test": "def test_f(capsys):\n    assert f() == 1"}, "fixture capsys"),
    "no name": ({"problem": "?", "tests": [{"input": "1", "output": "1", "testtype": "functional"}]}, "func_name"),
}


@pytest.mark.parametrize("name", CANNOT)
def test_a_row_that_cannot_be_judged_is_a_fault_that_says_why(name):
    row, message = CANNOT[name]
    with pytest.raises(Fault, match=message):
        CodeQuestion([row]).reset(seed=0)


MALFORMED = {
    "tests that are a number": ("MBPP", "test_list", 7),
    "solutions that are no records": ("CodeContests", "solutions", ["x"]),
    "columns that are not equally long": ("CodeContests", "solutions", {"language": [3], "solution": []}),
    "examples without an input": ("open-r1's Codeforces", "examples", [{"output": "1"}]),
    "test_info that is a text": ("KodCode", "test_info", ["x"]),
    "messages without a role": ("verl", "prompt", [{"content": "?"}]),
    "an output that is missing": ("GEM: inputs and outputs", "tests", {"inputs": ["1"], "outputs": [None]}),
    "a function that is a number": ("GEM: calls", "tests", {"fn_name": 7, "inputs": [[1]], "outputs": [2]}),
    "arguments that are a mapping": ("GEM: calls", "tests", {"fn_name": "f", "inputs": [{"a": 1}], "outputs": [2]}),
    "a tolerance in words": ("GEM: calls", "tolerance", "small"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_row_is_a_fault_that_names_it_and_the_column(name):
    sample, column, value = MALFORMED[name]
    rows = [SAMPLES[sample].row, {**SAMPLES[sample].row, column: value}]
    with pytest.raises(Fault, match=rf"row 1\b.*(\b{column}\b|tests of an unknown form)"):
        CodeQuestion(rows).reset(seed=0, options={"index": 1})


def test_a_tolerance_may_be_text_and_an_input_empty():
    row = {"problem": "?", "tests": {"inputs": [None], "outputs": ["1.0"]}, "tolerance": "0.1"}
    assert [reward(row, f"import sys\nprint(1.05 + len(sys.stdin.read()) + {more})") for more in (0, 0.1)] == [1.0, 0.0]


PROMISED = {
    "a prompt": (
        {**SAMPLES["HumanEval"].row, "prompt": "import numpy as np\n" + SAMPLES["HumanEval"].row["prompt"]},
        "import numpy as np\ndef add(a, b): return np.add(a, b)",
    ),
    "a start": (
        {**SAMPLES["BigCodeBench"].row, "code_prompt": "from numpy.linalg import det\ndef task_func(a, b):\n"},
        "from numpy.linalg import det\ndef task_func(a, b): return a + b",
    ),
    "a test in a function": (
        {
            **SAMPLES["KodCode"].row,
            "test": "import pytest\ndef test_add():\n    import numpy as np\n    assert add(1, 2) == 3",
        },
        ADD,
    ),
}


@pytest.mark.parametrize("name", PROMISED)
def test_a_row_that_needs_a_module_is_a_fault_unless_it_is_one_of_the_modules(name):
    row, program = PROMISED[name]
    with pytest.raises(Fault, match="imports what is not here: numpy"):
        CodeQuestion([row]).reset(seed=0)
    env = CodeQuestion([row], modules=["numpy"])
    env.reset(seed=0)
    assert env.step(block(program)).reward == 1.0


def test_a_module_that_is_tried_or_comes_with_python_is_not_needed():
    tried = "try:\n    import numpy\nexcept ImportError:\n    numpy = None\nimport math, os.path\nassert add(1, 2) == 3"
    assert reward({"problem": "?", "tests": tried}, ADD) == 1.0
    sample = SAMPLES["HumanEval"].row
    prompt = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np\n{sample['prompt']}"
    assert reward({**sample, "prompt": prompt}, ADD) == 1.0
    assert reward({**sample, "test": f"def unused():\n    import numpy\n{sample['test']}"}, ADD) == 1.0


def test_a_module_that_is_found_missing_by_running_is_a_fault():
    test = "def check(f):\n    import numpy\n    assert f(1, 2) == 3\nassert add(1, 1) == 2\ncheck(add)"
    with pytest.raises(Fault, match="No module named 'numpy'"):
        reward({"problem": "?", "tests": test}, ADD)


class Hostile:
    """Pickled, a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_hostile_pickle_runs_nothing(protocol, tmp_path):
    marks = [tmp_path / "made", tmp_path / "opened"]
    for planted in (Hostile(marks[0].mkdir), Hostile(open, str(marks[1]), "w"), [Hostile(eval, "1 / 0")]):
        column = base64.b64encode(zlib.compress(pickle.dumps(planted, protocol))).decode()
        with pytest.raises(Fault, match=r"packed tests that cannot be read .*not plain data"):
            CodeQuestion([{**LIVE, "private_test_cases": column}]).reset(seed=0)
    assert not any(mark.exists() for mark in marks)


def test_a_pickle_of_nine_bytes_takes_no_memory():
    memo = b"X\x00\x00\x00\x00r\xff\xff\xff\x03."
    assert pickle.loads(memo) == ""
    column = base64.b64encode(zlib.compress(memo)).decode()
    tracemalloc.start()
    unpacked(column)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


@pytest.mark.parametrize("tests", [[{"input": "2", "output": "4"}], 7, b"[]", {"inputs": []}])
def test_packed_tests_are_a_text(tests):
    column = base64.b64encode(zlib.compress(pickle.dumps(tests))).decode()
    with pytest.raises(Fault, match="not plain data: a text"):
        unpacked(column)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("text", ["[]", "[1, '\\n é \U0001f600']" * 10_000], ids=["short", "long"])
def test_a_text_is_unpacked_from_every_protocol(protocol, text):
    assert unpacked(base64.b64encode(zlib.compress(pickle.dumps(text, protocol))).decode()) == text


@pytest.mark.parametrize("column", ["no base64!", base64.b64encode(b"no zlib").decode(), "eJwr"])
def test_packed_tests_that_are_broken_are_a_fault(column):
    with pytest.raises(Fault, match="packed tests that cannot be read"):
        CodeQuestion([{**LIVE, "private_test_cases": column}]).reset(seed=0)


def test_packed_tests_that_unpack_to_too_much_are_a_fault(monkeypatch):
    from gem_envs_code.formats import livecodebench

    monkeypatch.setattr(livecodebench, "_MOST_BYTES", 1000)
    column = base64.b64encode(zlib.compress(pickle.dumps("[" + " " * 10_000 + "]"))).decode()
    with pytest.raises(Fault, match="more than 1000 bytes"):
        CodeQuestion([{**LIVE, "private_test_cases": column}]).reset(seed=0)


def test_integers_of_any_length_are_read():
    digits = "7" * 6000
    row = {
        "question": "?",
        "input_output": f'{{"fn_name": "f", "inputs": [[0]], "outputs": [{digits}]}}',
        "solutions": "",
    }
    assert task_of(row).tests[0].result == (10**6000 - 1) // 9 * 7


def test_the_examples_in_the_docstrings_are_true():
    for module in (literals, columns):
        assert doctest.testmod(module).failed == 0
