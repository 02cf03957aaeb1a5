"""Judging: what counts as the right output, and what a judgement says."""

from dataclasses import replace

import pytest

from gem_envs_code.judge import judge
from gem_envs_code.tasks import LIMITS, StdinTest, Task
from gem_sandbox import Limits, Sandbox, SandboxLost
from gem_sandbox.slot import SlotLost


def task(tests, limits=LIMITS):
    return Task(statement="", tests=tuple(StdinTest(*test) for test in tests), limits=limits)


DOUBLE = task((f"{n}\n", f"{2 * n}\n") for n in (1, 2, 3, 4))


def judged(program, task, box, stop="timeout"):
    """How many tests passed, and how the first failed."""
    passed, total, failure = judge(program, task, box, stop=stop)
    assert total == len(task.tests)
    return passed, failure and f"test {failure.number}: {failure.kind}"


def test_a_right_program_passes_every_case(box):
    assert judged("print(2 * int(input()))", DOUBLE, box) == (4, None)


@pytest.mark.parametrize(
    ("program", "judgement"),
    [
        ("print(4)", (1, "test 1: wrong output")),
        ("n = int(input())\nprint(2 * n)\nassert n < 3, 'too big'", (2, "test 3: an error")),
        ("n = int(input())\nprint(2 * n)\nexit(n // 4)", (3, "test 4: an error")),
        ("import os\nos.kill(os.getpid(), 40)", (0, "test 1: a crash")),
        ("print('x' * 2_000_000)", (0, "test 1: more than 1048576 bytes of output")),
    ],
)
def test_a_judgement_names_the_first_failure_and_counts_the_passed_cases(program, judgement, box):
    assert judged(program, DOUBLE, box) == judgement


@pytest.mark.parametrize(
    ("program", "failure"),
    [
        ("", "wrong output"),
        ("quit()", "wrong output"),
        ("import sys; sys.exit(3)", "an error"),
        ("exit(4)", "an error"),
        ("import os; os._exit(5)", "an error"),
        ("import os; os.abort()", "a crash"),
        ("import os; os.kill(os.getpid(), 9)", "a crash"),
        ("1 / 0", "an error"),
        ("this is not a program", "an error"),
        ("\x00", "an error"),
        ("x = '\ud800'", "wrong output"),
        ("(" * 5000, "an error"),
        ("def f(): return f()\nf()", "an error"),
        ("import os; os.fork()", "an error"),
        ("import numpy", "an error"),
        ("input()\ninput()", "an error"),
        ("bytearray(2**30)", "more than 536870912 bytes of memory"),
        ("print('x' * 2**30)", "more than 536870912 bytes of memory"),
        ("[0] * 2**30", "more than 536870912 bytes of memory"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "more than 1048576 bytes of output"),
        ("import os\nwhile True: os.write(2, b'x' * 65536)", "more than 1048576 bytes of output"),
        ("open('x', 'wb').write(bytes(2**25))", "more than 16777216 bytes or 1000 files"),
    ],
)
def test_every_failure_is_of_a_known_kind(program, failure, box):
    passed, failed = judged(program, DOUBLE, box)
    assert passed == 0
    assert failed == f"test 1: {failure}"


def test_a_program_cannot_tell_the_agent_its_input(box):
    attempts = {
        "exit": "sys.exit(given)",
        "status": "sys.exit(int(given) % 256)",
        "exception": "raise ValueError(given)",
        "name of an exception": "raise type(f'Input{given}', (Exception,), {})",
        "output": "print(given)",
        "standard error": "print(given, file=sys.stderr)\n1 / 0",
        "hook": "sys.excepthook = lambda *_: print(given, file=sys.stderr)\n1 / 0",
        "signal": "import os\nos.kill(os.getpid(), int(given) % 64)",
    }
    for way, code in attempts.items():
        program = f"import sys\ngiven = input()\n{code}"
        judgements = {judged(program, task([(f"{secret}\n", "right\n")]), box) for secret in (10, 11, 12, 40)}
        assert len(judgements) == 1, way


@pytest.mark.parametrize(
    ("hang", "wall", "failure"),
    [
        ("while n == 2: pass", 60, "more than 0.5 s of CPU time"),
        (
            "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile n == 2: pass",
            60,
            "more than 0.5 s of CPU time",
        ),
        (
            "import os, time\nif n == 2: os.close(1), os.close(2), time.sleep(60)",
            1,
            "more than 1 s, most of them without computing",
        ),
    ],
)
def test_nothing_is_run_after_a_case_that_ran_out_of_time(hang, wall, failure, box):
    program = f"n = int(input())\n{hang}\nprint(2 * n)"
    assert judged(program, replace(DOUBLE, limits=Limits(timeout=0.5, wall=wall)), box) == (1, f"test 2: {failure}")


def test_each_case_has_its_own_time_limit(box):
    program = "import time\nn = int(input())\nstart = time.process_time()\n"
    program += "while time.process_time() - start < 0.2: pass\nprint(2 * n)"
    assert judged(program, replace(DOUBLE, limits=Limits(timeout=0.5, wall=30)), box) == (4, None)


def test_a_fault_of_the_sandbox_raises_and_is_not_a_judgement():
    def fail(stdin):
        raise SlotLost("it died", "landlock")

    class Failing(Sandbox):
        def player(self, job, limits):
            return fail

    with pytest.raises(SandboxLost, match="it died"):
        judge("print(1)", DOUBLE, Failing(slots=1))


TELLS = {
    "frames": "import sys\nfirst = sys._getframe(1).f_code.co_name == 'module'",
    "a traceback": "try: 1 / 0\nexcept Exception as error:\n"
    "    first = error.__traceback__.tb_frame.f_back.f_code.co_name == 'module'",
    "standard input": "import sys\nfirst = type(sys.stdin.buffer).__name__ == 'BytesIO'",
}
"""Ways to know whether a test runs with others or alone."""


@pytest.mark.parametrize("tell", TELLS.values(), ids=TELLS)
@pytest.mark.parametrize("answers", [("no", "yes"), ("yes", "no")])
def test_a_program_that_tells_how_it_is_run_answers_each_test_once(tell, answers, box):
    together, alone = answers
    rights = [alone, together, together, alone]
    program = f"{tell}\nprint({together!r} if first else {alone!r})"
    assert not judge(program, task((f"{n}\n", f"{right}\n") for n, right in enumerate(rights)), box).right


SPOILING = {
    "a module": "import math\nprint(math.prod([2, int(input())]))\nmath.prod = None",
    "a builtin": "import builtins\nprint(2 * int(input()))\nbuiltins.int = None",
    "a class": "import collections\nassert not hasattr(collections.Counter, 'seen')\nprint(2 * int(input()))\n"
    "setattr(collections.Counter, 'seen', 1)",
    "the outputs": "import sys\nprint(2 * int(input()))\nsys.stdout.close()\nsys.stdin.close()",
    "another output": "import io, sys\nn = int(input())\nprint(2 * n)\nsys.stdout = io.StringIO()",
    "a file": "import os\nassert not os.path.exists('seen')\nprint(2 * int(input()))\nopen('seen', 'w').close()",
    "what it says at its end": "class Last:\n    def __del__(self): print(self.right)\nlast = Last()\n"
    "last.right = 2 * int(input())",
    "a context": "import decimal\nassert decimal.getcontext().prec == 28\ndecimal.getcontext().prec = 9\n"
    "print(2 * int(input()))",
    "a thread": "import threading\nthreading.Thread(target=print, args=(2 * int(input()),)).start()",
    "a function at exit": "import atexit\natexit.register(print, 2 * int(input()))",
}


@pytest.mark.parametrize("program", SPOILING.values(), ids=SPOILING)
def test_what_a_right_program_leaves_behind_does_not_reach_the_next_test(program, box):
    assert judged(program, DOUBLE, box) == (4, None)
