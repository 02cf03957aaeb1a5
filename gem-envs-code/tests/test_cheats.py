"""Programs that cheat: a naive checker accepts each of them, and ours does not."""

import pytest
from naive import ANSWERS, ASSERTIONS, CHEATS, RIGHT, accepts

from gem_envs_code.judge import judge
from gem_envs_code.tasks import AssertTest, CallTest, StdinTest, Task


def task(kind, assertions="equal"):
    tests = {
        "stdin": [StdinTest(f"{n}\n", f"{right}\n") for n, right in ANSWERS.items()],
        "call": [CallTest("f", (n,), right) for n, right in ANSWERS.items()],
        "assert": [AssertTest(ASSERTIONS[assertions])],
    }
    return Task(statement="", tests=tuple(tests[kind]))


@pytest.mark.parametrize(
    ("kind", "assertions", "name", "program"), CHEATS, ids=[f"{kind}-{name}" for kind, _, name, _ in CHEATS]
)
def test_a_cheat_that_a_naive_checker_accepts_is_not_accepted(kind, assertions, name, program, box):
    assert accepts(box, kind, program, assertions)
    assert not judge(program, task(kind, assertions), box).right


@pytest.mark.parametrize(
    ("kind", "assertions"), [("stdin", "equal"), ("call", "equal"), *(("assert", each) for each in ASSERTIONS)]
)
def test_a_right_program_is_accepted_by_both(kind, assertions, box):
    assert accepts(box, kind, RIGHT[kind], assertions)
    assert judge(RIGHT[kind], task(kind, assertions), box).right


FORGE = """
import os, sys
frame = sys._getframe()
while "order" not in frame.f_locals:
    frame = frame.f_back
def write(answer): os.write(1, f"\\n{frame.f_locals['order']['mark']}{answer}\\n".encode())
"""
FORGED = [
    "true",
    "null",
    '{"passed": true}',
    '{"is": true, "changed": {}}',
    '{"is": {"object": [0, 0]}, "changed": {}}',
    '{"is": {"object": [-1, 7]}, "changed": {"9": 1}}',
    '{"raised": ["AssertionError"], "text": ""}',
    '{"raised": ["SystemExit"], "text": "0"}',
    '{"raised": [], "text": 3}',
    '{"dict": 3}',
    '{"set": [[1], [2]]}',
    "[" * 5000 + "]" * 5000,
    "[" * 100_000,
    *("[" * depth + "]" * depth for depth in (200, 400, 700, 900, 950)),
    '{"complex": [1' + "0" * 400 + ", 1]}",
    '{"is": ' + "[" * 400 + "]" * 400 + ', "changed": {}}',
    "9" * 10_000,
    '{"int": "0x' + "f" * 10_000 + '"}',
    '{"is": 10, "changed": {"0": 5}}',
    "\\xff",
]


@pytest.mark.parametrize("kind", ["call", pytest.param("assert", marks=pytest.mark.full)])
def test_a_program_that_writes_answers_of_its_own_gains_nothing_unless_they_are_right(kind, box):
    def forging(*answers):
        return f"{FORGE}\nfor answer in {answers!r} * 20: write(answer)\nos._exit(0)"

    for answer in FORGED:
        assert not judge(forging(answer), task(kind), box).right
    if kind == "call":
        assert judge(forging("10"), task(kind), box).passed == 1


SECRET = 982_451_653
SEARCH = f"""
import gc, re, sys
def f(n):
    frame, seen = sys._getframe(), gc.get_objects()
    while frame:
        seen += [frame.f_globals, frame.f_locals]
        frame = frame.f_back
    numbers = re.findall("[0-9]+", repr([each for each in seen if type(each) in (dict, list, tuple)]))
    if any(int(each) * 3 + 1 == {SECRET * 3 + 1} for each in numbers):
        sys.exit("found")
    sys.exit("the argument alone" if str(n) in numbers else "nothing")
"""


@pytest.mark.parametrize(
    "test",
    [
        CallTest("f", (12345,), SECRET),
        AssertTest(f"assert f(12345) == {SECRET}"),
        AssertTest(f"right = {SECRET}\nassert f(12345) == right\nassert f(3) > right"),
    ],
)
def test_expected_results_are_not_in_the_process_of_the_program(test, box):
    failure = judge(SEARCH, Task(statement="", tests=(test,)), box).failure
    assert failure.result.stderr == "the argument alone\n"


def test_the_search_finds_what_is_there(box):
    failure = judge(SEARCH, Task(statement="", tests=(CallTest("f", (SECRET,), 1),)), box).failure
    assert failure.result.stderr == "found\n"
