"""Tests as data sets have them."""

import json

import pytest

from gem_envs_code.rows import read_tests
from gem_envs_code.tasks import AssertTest, CallTest, StdinTest


@pytest.mark.parametrize(
    ("column", "tests"),
    [
        ({"inputs": ["1\n", ["2", "3"]], "outputs": ["a", ["b", 4]]}, [("1\n", "a"), ("2\n3\n", "b\n4\n")]),
        ({"input": ["1"], "output": ["2"]}, [("1", "2")]),
        ([{"input": "1", "output": "2", "fn_name": None, "type": "stdin_stdout"}], [("1", "2")]),
        ({"test_cases": [{"input": "1", "output": "2"}]}, [("1", "2")]),
    ],
)
def test_of_standard_input(column, tests):
    expected = tuple(StdinTest(*test) for test in tests)
    assert read_tests(column) == read_tests(json.dumps(column)) == expected


@pytest.mark.parametrize(
    ("column", "tests"),
    [
        (
            {"fn_name": "f", "inputs": [[1, [2]], [3, []]], "outputs": [[[0]], [[1, 2]]]},
            [CallTest("f", (1, [2]), [[0]], or_first=True), CallTest("f", (3, []), [[1, 2]], or_first=True)],
        ),
        (
            {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[5], 6]},
            [CallTest("f", (1,), [5]), CallTest("f", (2,), 6)],
        ),
        (
            [{"fn_name": "g", "input": '[1]\n"a"', "output": '{"b": 2}', "type": "functional"}],
            [CallTest("g", ([1], "a"), {"b": 2})],
        ),
        (
            [
                {"function": "f", "arguments": [1], "result": None},
                {"function": "f", "arguments": [], "result": 0, "same": "python", "keywords": {"x": 1}},
            ],
            [CallTest("f", (1,), None), CallTest("f", (), 0, {"x": 1}, "python")],
        ),
    ],
)
def test_of_functions(column, tests):
    assert read_tests(column) == read_tests(json.dumps(column)) == tuple(tests)


def test_of_assertions():
    assert read_tests(["assert f(1)", "assert f(2)"]) == (AssertTest("assert f(1)"), AssertTest("assert f(2)"))
    assert read_tests("def check(f):\n    assert f(1)\ncheck(f)") == (
        AssertTest("def check(f):\n    assert f(1)\ncheck(f)"),
    )
