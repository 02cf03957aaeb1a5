"""`like="livecodebench"`: verdicts of LiveCodeBench's own checker, on which ours differs without it.

Each was measured with `run_test` of its `lcb_runner/evaluation/testing_util.py` on a program that prints, or returns,
what is here.
"""

from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import pytest

from gem.errors import ConfigError
from gem_envs_code.checkers import COMPARISONS
from gem_envs_code.grader import block
from gem_envs_code.inside.wire import encode
from gem_envs_code.questions import CodeQuestion
from gem_envs_code.results import same_result

Pair = namedtuple("Pair", "x y")
OUTPUTS = [  # printed, expected, LiveCodeBench's verdict
    ("1.0", "1", True),
    ("0.50", "0.5", True),
    ("1e3", "1000", True),
    ("2.5E1", "25", True),
    ("+5", "5", True),
    ("007", "7", True),
    (".5", "0.5", True),
    ("3.", "3", True),
    ("-0", "0", True),
    ("Infinity", "inf", True),
    ("1_000", "1000", True),
    ("\u0661\u0662", "12", True),
    ("\uff11", "1", True),
    ("1.0 2.00 3", "1 2 3", True),
    ("1.0\n2.0", "1\n2", True),
    ("0.1000000000000000000000000000000000000000000", "0.1", True),
    ("1\u30002", "1 2", True),
    ("\n\n7", "7", True),
    ("  \n7", "7", True),
    ("7\u00a0", "7", True),
    ("7\x1f", "7", True),
    ("a  b", "a b", False),
    ("a\tb", "a b", False),
    ("x  1", "x 1", False),
]
RESULTS = [  # returned, expected, LiveCodeBench's verdict
    (True, 1, True),
    (1, True, True),
    (0, False, True),
    (1.0, 1, True),
    ([1.0, 2.0], [1, 2], True),
    ([True, False], [1, 0], True),
    (-0.0, 0, True),
    (1e16, 10**16, True),
    (1 + 0j, 1, True),
    ([2 + 0j], [2], True),
    ([(1, 2)], [[1, 2]], False),
    (((1, 2), (3, 4)), [[1, 2], [3, 4]], False),
    ({"a": (1, 2)}, {"a": [1, 2]}, False),
    (Fraction(1, 2), 0.5, True),
    (Fraction(10**30), 10**30, True),
    ([(Fraction(1, 2)), 3], [0.5, 3], True),
    ((Fraction(1, 2), Decimal("0.25")), [0.5, 0.25], True),
    ({"a": Decimal("1.5")}, {"a": 1.5}, True),
    (Decimal("2.50"), 2.5, True),
    (Decimal("1E+2"), 100, True),
    (Decimal("-0"), False, True),
    (Decimal("Infinity"), float("inf"), True),
    (type("Half", (Fraction,), {})(1, 2), 0.5, True),
    (type("Money", (Decimal,), {})("0.5"), 0.5, True),
    ({1: 2}, {"1": 2}, False),
    ({True: 2}, {"true": 2}, False),
    ({None: 2}, {"null": 2}, False),
    (float("nan"), float("nan"), False),
    ([float("nan")], [float("nan")], False),
    ([Pair(1, 2)], [[1, 2]], False),
]
PROGRAMS = [  # all right for LiveCodeBench
    ("def f(n):\n    return n and 1 + f(n - 1)\nprint(f(20_000))", "20000"),
    ("import sys\nprint(7)\nsys.exit(1)", "7"),
    ("print(7)\nraise SystemExit('done')", "7"),
]
ALIKE = [  # no difference: printed, expected, both verdicts
    ("7  \n", "7", True),
    ("7\r\n8", "7\n8", True),
    ("", "7", False),
    ("7\n8", "7", False),
    ("7 8", "7", False),
    ("7\n\n8", "7\n8", False),
    ("yes", "YES", False),
    ("x 1.0", "x 1", False),
    ("NaN", "nan", False),
    ("sNaN", "1", False),
    ("0.30000000000000004", "0.3", False),
]


@pytest.mark.parametrize(("printed", "expected", "right"), OUTPUTS)
def test_outputs_are_compared_as_in_livecodebench_where_ours_differs(printed, expected, right):
    verdicts = [COMPARISONS[name](printed.encode(), expected.encode(), 0.0) for name in ("livecodebench", "words")]
    assert verdicts == [right, not right]


@pytest.mark.parametrize(("returned", "expected", "right"), RESULTS)
def test_results_are_compared_as_in_livecodebench_where_ours_differs(returned, expected, right):
    verdicts = [same_result(encode(returned), expected, same) for same in ("livecodebench", "json")]
    assert verdicts == [right, not right]


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (Fraction(1, 3), 1 / 3),
        (Fraction(1, 10), 0.1),
        (Fraction(5, 2), "5/2"),
        (Decimal("0.1"), 0.1),
        (Decimal("NaN"), float("nan")),
        (Decimal("sNaN"), 1),
        (Decimal("0"), None),
        ([(Fraction(1, 2), 2)], [[0.5, 2]]),
        ({Fraction(1): 2}, {"1": 2}),
        ({Fraction(1, 2)}, [0.5]),
    ],
)
def test_a_fraction_or_decimal_is_no_other_number(returned, expected):
    assert not same_result(encode(returned), expected, "livecodebench")


@pytest.mark.parametrize(("printed", "expected", "right"), ALIKE)
def test_other_outputs_have_the_same_verdict(printed, expected, right):
    verdicts = [COMPARISONS[name](printed.encode(), expected.encode(), 0.0) for name in ("livecodebench", "words")]
    assert verdicts == [right, right]


def rewards(row, program):
    """The rewards without the mode and in it."""
    found = []
    for settings in ({}, {"like": "livecodebench"}):
        env = CodeQuestion([row], **settings)
        env.reset(seed=0)
        found.append(env.step(block(program)).reward)
    return found


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_programs_run_as_in_livecodebench(program, expected):
    assert rewards({"problem": "?", "tests": {"inputs": [""], "outputs": [expected]}}, program) == [0.0, 1.0]


def test_a_tuple_counts_as_a_list_and_a_deep_recursion_is_none_too_deep_for_a_function():
    calls = {"fn_name": "f", "inputs": [[3], [20_000]], "outputs": [[3, 3], [20_000, 20_000]]}
    program = "def g(n):\n    return n and 1 + g(n - 1)\ndef f(n):\n    return n, g(n)"
    assert rewards({"problem": "?", "tests": calls}, program) == [0.0, 1.0]
    assert rewards({"problem": "?", "tests": calls}, program.replace("n, g(n)", "[(n, g(n))]")) == [0.0, 0.0]


def test_a_program_that_fails_after_its_output_is_wrong_there_too():
    row = {"problem": "?", "tests": {"inputs": [""], "outputs": ["7"]}}
    assert rewards(row, "print(7)\n1 / 0") == [0.0, 0.0]
    assert rewards(row, "from __future__ import annotations\nx: Deque\nprint(floor(7.5))") == [1.0, 1.0]


def test_the_mode_has_its_own_comparison():
    for settings in ({"checker": "tokens"}, {"tolerance": 0.1}, {"language": "cpp"}):
        with pytest.raises(ConfigError, match="leave out checker"):
            CodeQuestion([], like="livecodebench", **settings)
    with pytest.raises(ConfigError, match="like is 'livecodebench'"):
        CodeQuestion([], like="codeforces")
