"""The tool `calculator`: values against Python's own, and nothing that takes long or has side effects."""

import math
import re

import pytest

from gem.tool import ToolError
from gem_tools.calculator import calculator


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("2 ** 10", 1024),
        ("2^10", 1024),
        ("+3 - -4", 7),
        ("7 / 2", 3.5),
        ("99999999999999999999 * 99999999999999999999", 99999999999999999999**2),
        ("sqrt(2) * sin(pi / 6)", math.sqrt(2) * math.sin(math.pi / 6)),
        ("round(2.567, 2)", 2.57),
        ("round(2.5)", 2),
        ("max(3, 9, 4) - min(3, 9, 4)", 6),
        ("gcd(12, 18)", 6),
        ("1 ** 1000000000", 1),
        (" 1e3 ", 1000.0),
        ("e", math.e),
    ],
)
def test_values_are_those_of_python(expression, value):
    assert calculator(expression) == str(value)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "not an expression"),
        ("2 +", "not an expression"),
        ("x = 3", "not an expression"),
        ("1; 2", "not an expression"),
        ("1 / 0", "no value: division by zero"),
        ("sqrt(-1)", "no value"),
        ("(-8) ** 0.5", "not a real number"),
        ("log(0)", "no value"),
        ("x + 1", "does not know 'x'"),
        ("True + 1", "does not know 'True'"),
        ("'a' * 3", "does not know"),
        ("[1, 2]", "does not know"),
        ("__import__('os').system('true')", "does not know"),
        ("open('/etc/passwd')", "does not know"),
        ("(1).__class__", "does not know"),
        ("lambda: 1", "does not know"),
        ("sqrt(x=2)", "does not know"),
        ("sqrt(1, 2)", "no value"),
        ("9 ** 9 ** 9", "too large"),
        ("2 ** 100000", "too large"),
        ("10 ** 3000 * 10 ** 3000", "too large"),
        ("round(5, -1000000000)", "rounded"),
        ("exp(1000)", "no value"),
        ("(" * 900 + "1" + ")" * 90, "not an expression|no value"),
        ("-" * 900 + "1", "not an expression|no value|1"),
        ("1+" * 600 + "1", "at most 1000 characters"),
        ("1\0", "no value|not an expression"),
    ],
)
def test_what_cannot_be_computed_is_answered_with_the_reason(expression, reason):
    try:
        answer = calculator(expression)
    except ToolError as error:
        answer = str(error)
    assert re.search(reason, answer), answer
