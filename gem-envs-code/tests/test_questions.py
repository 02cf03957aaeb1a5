"""`CodeQuestion`: settings, attempts, what is shown and what is not."""

import pytest

from gem.errors import Fault
from gem_envs_code.questions import CodeQuestion

STDIN = {"problem": "Double n.", "tests": {"inputs": ["1", "2", "3"], "outputs": ["2", "4", "6"]}}
CALLS = {"problem": "Double n.", "tests": {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[2], [4]]}}
ASSERTED = {"problem": "Double n.", "tests": ["assert f(1) == 2", "for n in (2, 3):\n    assert f(n) == 2 * n"]}


def step(row, program, **settings):
    env = CodeQuestion([row], **settings)
    env.reset(seed=0)
    return env.step(f"```python\n{program}\n```")


@pytest.mark.parametrize("row", [STDIN, CALLS, ASSERTED], ids=["stdin", "calls", "assertions"])
def test_a_right_program_earns_1_and_a_wrong_one_0(row):
    right = "print(2 * int(input()))" if row is STDIN else "def f(n): return n + n"
    total = 3 if row is STDIN else 2
    assert step(row, right)[:2] == (f"Your program passed all {total} tests.", 1.0)
    wrong = step(row, "print(2)\ndef f(n): return 2")
    kind = {"Double n.": "wrong output"} if row is STDIN else {"Double n.": "a wrong result"}
    kind = "a failed assertion" if row is ASSERTED else kind["Double n."]
    assert wrong[:2] == (f"Your program failed test 2 of {total}: {kind}.", 0.0)
    assert wrong.info == {"success": False}


def test_partial_credit_is_the_share_of_tests_passed():
    assert step(STDIN, "n = int(input())\nprint(2 * n if n != 2 else 0)", partial=True)[:2] == (
        "Your program passed 2 of 3 tests. The first to fail was test 2: wrong output.",
        2 / 3,
    )


def test_the_tests_with_the_longest_inputs_are_run():
    row = {"problem": "", "tests": {"inputs": ["1", "22", "333", "4"], "outputs": ["1", "22", "333", "-"]}}
    assert step(row, "print(input())", max_tests=2).observation == "Your program passed all 2 tests."
    assert step(row, "print(input())").observation == "Your program failed test 4 of 4: wrong output."


@pytest.mark.parametrize("row", [STDIN, CALLS, ASSERTED], ids=["stdin", "calls", "assertions"])
def test_before_another_attempt_the_failing_test_is_shown_by_choice_and_never_at_the_end(row):
    program = "```\nprint(int(input()) + 1)\n```" if row is STDIN else "```\ndef f(n): return [n, n]\n```"
    hidden, shown = (CodeQuestion([row], max_attempts=2, show_failure=choice) for choice in (False, True))
    for env in (hidden, shown):
        env.reset(seed=0)
    left = "\nTry again: you have 1 attempt left."
    number, kind = (2, "wrong output") if row is STDIN else (1, "a wrong result")
    said = f"Your program failed test {number} of {3 if row is STDIN else 2}: {kind}."
    assert hidden.step(program).observation == said + left
    details = {
        id(STDIN): "Input:\n2\nExpected output:\n4\nOutput of your program:\n3",
        id(CALLS): "Call:\nf(1)\nExpected result:\n2\nResult of your program:\n[1, 1]",
        id(ASSERTED): "Assertions:\nassert f(1) == 2\nResult of your program:\n[1, 1]",
    }[id(row)]
    assert shown.step(program).observation == f"Test {number} failed: {kind}.\n{details}{left}"
    assert hidden.step(program).observation == shown.step(program).observation == said


def test_an_exception_is_shown_with_its_last_line_and_a_reply_without_a_program_with_nothing():
    env = CodeQuestion([STDIN], max_attempts=3, show_failure=True)
    env.reset(seed=0)
    assert "It ended with:\nZeroDivisionError: division by zero\n" in env.step("```\n1 / 0\n```").observation
    assert env.step("no program").observation.startswith("Your reply has no fenced code block.\n")


@pytest.mark.parametrize(
    ("row", "settings", "program", "right"),
    [
        ({"checker": "tokens"}, {}, "print(2)\nprint(4)", True),
        ({}, {}, "print(2)\nprint(4)", False),
        ({}, {"checker": "any order"}, "print(' 4  2')\n", False),
        ({"tolerance": 0.01}, {}, "print(2.001, 4)", True),
        ({}, {"tolerance": 1e-9}, "print(2.001, 4)", False),
        ({"checker": "exact"}, {}, "print('2  4')", False),
        ({}, {"checker": "code_checkers:is_anything"}, "print('x')", True),
        (
            {
                "checker": "import sys\ndef words(name): return sorted(open(name).read().split())\n"
                "right = words('printed.txt') == words('expected.txt')\n"
                "sys.exit(not right or open('input.txt').read() != 'in')"
            },
            {},
            "print('4 2', end='')",
            True,
        ),
        ({"checker": "import sys\nsys.exit(1)"}, {}, "print(2, 4)", False),
    ],
)
def test_checkers_decide_which_outputs_are_right(row, settings, program, right):
    tests = {"inputs": ["in"], "outputs": ["2 4"]}
    assert step({"problem": "", "tests": tests, **row}, program, **settings).info["success"] is right


@pytest.mark.parametrize("checker", ["1 / 0\n", "while True:\n    pass"])
def test_a_checker_that_fails_by_itself_is_a_fault(checker, monkeypatch):
    from gem_envs_code import checkers

    monkeypatch.setattr(checkers, "CHECKER_LIMITS", checkers.CHECKER_LIMITS.changed({"timeout": 0.2, "wall": 30}))
    with pytest.raises(Fault, match="the checker of the task"):
        step({**STDIN, "checker": checker}, "print(2)")


def test_the_gold_is_the_first_solution_of_the_language():
    row = {**STDIN, "solutions": ["print(2 * int(input()))", "pass"]}
    env = CodeQuestion([row])
    env.reset(seed=0)
    assert env.step(env.expert_action()).reward == 1.0
    other = CodeQuestion([{**row, "language": "cpp"}])
    other.reset(seed=0)
    assert other.expert_action() is None
    assert CodeQuestion([STDIN], instruction=False).reset(seed=0)[0] == "Double n."
