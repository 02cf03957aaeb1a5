"""Checkers: when an output is right."""

import pytest

from gem_envs_code.checkers import same_output


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
