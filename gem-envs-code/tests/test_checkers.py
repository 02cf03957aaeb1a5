"""Checkers: when an output is right."""

import pytest

from gem.errors import Fault
from gem_envs_code import checkers
from gem_envs_code.checkers import same_output
from gem_envs_code.tasks import StdinTest, Task
from gem_sandbox import Limits


@pytest.mark.parametrize(
    ("printed", "right", "same"),
    [
        ("7\n", "7\n", True),
        ("7", "7\n", True),
        (" 7  \r\n\n\n", "7\n", True),
        ("1  2\t3\n", "1 2 3\n", True),
        ("1\n2\n", "1 2\n", False),
        ("1\n\n2\n", "1\n2\n", False),
        ("\n1\n", "1\n", False),
        ("12\n", "1 2\n", False),
        ("7.0\n", "7\n", False),
        ("Yes\n", "yes\n", False),
        ("", "7\n", False),
        ("7\n8\n", "7\n", False),
        ("", "\n", True),
    ],
)
def test_outputs_are_compared_by_the_words_of_each_line(printed, right, same):
    assert same_output(printed.encode(), right.encode()) is same


def test_outputs_are_compared_as_bytes():
    assert not same_output(b"\xff\n", "\ufffd\n".encode())
    assert not same_output("a\u2028b\n".encode(), b"a\nb\n")
    assert not same_output("1\u00a02\n".encode(), b"1 2\n")


PROGRAM = """import sys
total = sum(map(int, open("printed.txt", encoding="utf-8").read().split()))
while total == 5: pass
sys.exit(total != 6)
"""
UNREADABLE = {
    "words": b"two four",
    "bad UTF-8": b"\xff\xfe 6",
    "a long number": b"1" * 5000,
    "what takes it too long": b"5",
}


def sums_to_six(given, printed, expected):
    return sum(map(int, printed.split())) == 6


@pytest.mark.parametrize("checker", [PROGRAM, sums_to_six], ids=["a program", "a function"])
@pytest.mark.parametrize("printed", UNREADABLE.values(), ids=UNREADABLE)
def test_an_output_that_a_checker_cannot_read_is_not_right(checker, printed, box, monkeypatch):
    monkeypatch.setattr(checkers, "CHECKER_LIMITS", Limits(timeout=0.3, wall=30))
    test = StdinTest("", "2 4")
    task = Task(statement="", tests=(test,), checker=checker)
    assert checkers.right_output(b"3 3", test, task, box)
    assert not checkers.right_output(printed, test, task, box)


def test_a_function_that_fails_on_the_expected_output_is_a_fault(box):
    test = StdinTest("", "two four")
    with pytest.raises(Fault, match="invalid literal"):
        checkers.right_output(b"3 3 3 3 x", test, Task(statement="", tests=(test,), checker=sums_to_six), box)
