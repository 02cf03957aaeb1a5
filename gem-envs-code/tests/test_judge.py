"""Judging: what counts as the right output, and what a verdict says."""

import pytest

from gem.errors import SandboxLost
from gem.sandbox import Limits, Sandbox
from gem.sandbox.slot import SlotLost
from gem_envs_code.judge import Judgement, judge, same_output
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


def test_a_right_program_passes_every_case(box):
    assert judge("print(2 * int(input()))", DOUBLE, box) == Judgement(4, None)


@pytest.mark.parametrize(
    ("program", "judgement"),
    [
        ("print(4)", Judgement(1, "test 1: wrong output")),
        (
            "n = int(input())\nprint(2 * n)\nassert n < 3, 'too big'",
            Judgement(2, "test 3: ended with status 1 (AssertionError: too big)"),
        ),
        ("n = int(input())\nprint(2 * n)\nexit(n // 4)", Judgement(3, "test 4: ended with status 1")),
        ("import os\nos.kill(os.getpid(), 40)", Judgement(0, "test 1: ended by signal 40 (real-time)")),
        ("import sys\nsys.exit('x' * 10_000)", Judgement(0, f"test 1: ended with status 1 ({'x' * 200})")),
        ("print('x' * 2_000_000)", Judgement(0, "test 1: more than 1048576 bytes of output")),
    ],
)
def test_the_first_failure_is_told_and_the_passed_are_counted(program, judgement, box):
    assert judge(program, DOUBLE, box) == judgement


@pytest.mark.parametrize(
    ("program", "failure"),
    [
        ("", "wrong output"),
        ("quit()", "wrong output"),
        ("import sys; sys.exit(3)", "ended with status 3"),
        ("exit(4)", "ended with status 4"),
        ("import os; os._exit(5)", "ended with status 5"),
        ("import os; os.abort()", "ended by signal 6 (SIGABRT)"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9 (SIGKILL)"),
        ("1 / 0", "ended with status 1 (ZeroDivisionError: division by zero)"),
        ("this is no program", "ended with status 1 (SyntaxError: invalid syntax)"),
        ("\x00", "ended with status 1 (SyntaxError: "),
        ("x = '\ud800'", "wrong output"),
        ("(" * 5000, "ended with status 1 (SyntaxError: too many nested parentheses"),
        ("def f(): return f()\nf()", "ended with status 1 (RecursionError: maximum recursion depth exceeded"),
        ("import os; os.fork()", "ended with status 1 (PermissionError: "),
        ("import numpy", "ended with status 1 (ModuleNotFoundError: No module named 'numpy')"),
        ("input()\ninput()", "ended with status 1 (EOFError: EOF when reading a line)"),
        ("bytearray(2**30)", "more than 536870912 bytes of memory"),
        ("print('x' * 2**30)", "more than 536870912 bytes of memory"),
        ("[0] * 2**30", "more than 536870912 bytes of memory"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "more than 1048576 bytes of output"),
        ("import os\nwhile True: os.write(2, b'x' * 65536)", "more than 1048576 bytes of output"),
        ("open('x', 'wb').write(bytes(2**25))", "more than 16777216 bytes or 1000 files"),
    ],
)
def test_every_end_is_a_verdict(program, failure, box):
    passed, said = judge(program, DOUBLE, box)
    assert passed == 0
    assert said.startswith(f"test 1: {failure}")


@pytest.mark.parametrize(
    ("hang", "failure"),
    [
        ("while n == 2: pass", "more than 0.5 s of CPU time"),
        (
            "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile n == 2: pass",
            "more than 0.5 s of CPU time",
        ),
        (
            "import os, time\nif n == 2: os.close(1), os.close(2), time.sleep(60)",
            "more than 1 s, most of them without computing",
        ),
    ],
)
def test_nothing_is_run_after_a_case_that_ran_out_of_time(hang, failure, box):
    program = f"n = int(input())\n{hang}\nprint(2 * n)"
    assert judge(program, DOUBLE, box, Limits(timeout=0.5, wall=1)) == Judgement(1, f"test 2: {failure}")


def test_the_time_is_each_cases_own(box):
    program = "import time\nn = int(input())\nstart = time.process_time()\n"
    program += "while time.process_time() - start < 0.2: pass\nprint(2 * n)"
    assert judge(program, DOUBLE, box, Limits(timeout=0.5, wall=30)) == Judgement(4, None)


def test_a_fault_of_the_sandbox_is_no_verdict():
    class Failing(Sandbox):
        def play(self, job, inputs, limits):
            raise SlotLost("it died", "landlock")

    with pytest.raises(SandboxLost, match="it died"):
        judge("print(1)", DOUBLE, Failing(slots=1))
