"""Tests, checkers and programs as data sets have them in their columns; written for GEM."""

ASSERTION = """import numpy as np

def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False


def assertion(out, exp, atol):
    exact_match = out == exp

    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match
"""

PLUS = f"""{ASSERTION}

def check(candidate):
    inputs = [[1, 2], [0.1, 0.2], [[1], [2]]]
    results = [3, 0.3, [1, 2]]
    for i, (inp, exp) in enumerate(zip(inputs, results)):
        assertion(candidate(*inp), exp, 0)
"""

CROSS = f"""{ASSERTION}

def ref_func(a, b):
    return a + b

def check(candidate):
    inputs = [[1, 2], ['a', 'b']]
    for i, inp in enumerate(inputs):
        assertion(candidate(*inp), ref_func(*inp), 0)
"""

SET_EQUAL = """import numpy as np
from math import inf

def is_floats(x) -> bool:
    return isinstance(x, float)

def assertion(out, exp, atol):
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    out = set(out)
    exp = set(exp)
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp, f"out: {out}, exp: {exp}"

inputs = [[[n], [n + 1]] for n in range(150)]
results = [[n + 1, n] for n in range(150)]
for i, (inp, exp) in enumerate(zip(inputs, results)):
    assertion(add(*inp), exp, 0)
"""

CHECKER = """import sys

def main(input_path, output_path, submission_path):
    n = int(open(input_path).read())
    try:
        a, b = map(int, open(submission_path).read().split())
    except ValueError:
        print(0)
        return
    print(1 if a + b == n and a > 0 and b > 0 else 0)

if __name__ == "__main__":
    main(*sys.argv[1:])
"""

PYTEST = """import pytest
from solution import add as plus

@pytest.fixture
def pair():
    return [1], [2]

def test_pair(pair):
    assert plus(*pair) == [1, 2]

@pytest.mark.parametrize("a, b, expected", [(1, 2, 3), ("a", "b", "ab")])
def test_each(a, b, expected):
    assert plus(a, b) == expected

class TestMore:
    def setup_method(self):
        self.one = 0.1

    def test_near(self):
        assert plus(self.one, 0.2) == pytest.approx(0.3)

    def test_refuses(self):
        with pytest.raises(ValueError, match="no number"):
            plus(None, 1)
"""

UNIT = """import unittest

class TestCases(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(task_func(1, 2), 3)

    def test_texts(self):
        self.assertEqual(task_func("a", "b"), "ab")
"""

CHECK = """METADATA = {'author': 'gem'}


def check(candidate):
    assert candidate(1, 2) == 3
    assert candidate('a', 'b') == 'ab'
"""

NODES = """class Node:
    def __init__(self, value):
        self.value = value


def add(a, b):
    return a.value + b.value
"""

KOD = """from solution import add

def test_numbers():
    assert add(1, 2) == 3

def test_texts():
    assert add('a', 'b') == 'ab'
"""

LEET = """def check(candidate):
    assert candidate(a = [1], b = 2) == [1, 2]
    assert candidate(a = [], b = 0) == [0]
"""
