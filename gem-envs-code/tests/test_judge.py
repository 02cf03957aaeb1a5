"""Judging: what counts as the right output, and what a verdict says."""

import pytest

from gem_envs_code.judge import Judgement, judge, same_output
from gem_envs_code.runner import Limits
from gem_envs_code.tasks import Case

DOUBLE = tuple(Case(f"{n}\n", f"{2 * n}\n") for n in (1, 2, 3, 4))


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
    assert same_output(printed, right) is same


def test_a_right_program_passes_every_case():
    assert judge("print(2 * int(input()))", DOUBLE) == Judgement(4, None)


@pytest.mark.parametrize(
    ("program", "judgement"),
    [
        ("print(4)", Judgement(1, "test 1: wrong output")),
        (
            "n = int(input())\nprint(2 * n)\nassert n < 3, 'too big'",
            Judgement(2, "test 3: ended with status 1 (AssertionError: too big)"),
        ),
        ("n = int(input())\nprint(2 * n)\nexit(n // 4)", Judgement(3, "test 4: ended with status 1")),
        ("import os\nos.kill(os.getpid(), 40)", Judgement(0, "test 1: ended by signal 40")),
        ("import sys\nsys.exit('x' * 10_000)", Judgement(0, f"test 1: ended with status 1 ({'x' * 200})")),
        ("print('x' * 2_000_000)", Judgement(0, "test 1: more than 1048576 bytes of output")),
    ],
)
def test_the_first_failure_is_told_and_the_passed_are_counted(program, judgement):
    assert judge(program, DOUBLE) == judgement


def test_nothing_is_run_after_a_case_that_ran_out_of_time():
    program = "n = int(input())\nwhile n == 2: pass\nprint(2 * n)"
    verdict = "test 2: out of time (1 s of processor time, 10 s in all)"
    assert judge(program, DOUBLE, Limits(cpu_seconds=1)) == Judgement(1, verdict)
