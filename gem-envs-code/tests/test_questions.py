"""`CodeQuestion`: settings, attempts, what is shown and what is not."""

import pytest

from gem.errors import ConfigError, Fault
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


NUMPY = {
    "printed": (STDIN, "import numpy as np\nprint(np.sum([int(input())] * 2))"),
    "returned": (CALLS, "import numpy as np\ndef f(n): return np.array([n, n]).sum()"),
    "asserted": (ASSERTED, "import numpy as np\ndef f(n): return np.int64(2) * n"),
    "an array": (
        {
            "problem": "?",
            "tests": [
                "import numpy as np\nx = np.ones((2, 3))\nfound = f(x)\nassert found.shape == (2, 3)\n"
                "assert np.allclose(found, 2 * x) and found.dtype == x.dtype\nassert (f(2) == 4).all()"
            ],
        },
        "def f(x): return x * 2 if not isinstance(x, int) else x * numpy.array([2, 2])\nimport numpy",
    ),
    "random": (
        {"problem": "?", "tests": ["x = f(0)\nassert str(x)[0] == '0'\nassert f(x) == x"]},
        "import numpy\nx = float(numpy.random.rand())\ndef f(n): return n or x",
    ),
}


@pytest.mark.parametrize("name", NUMPY)
def test_programs_import_numpy_where_it_is_one_of_the_modules(name):
    row, program = NUMPY[name]
    assert step(row, program, modules=["numpy"]).reward == 1.0
    wrong = program.replace("print(", "print(1 + ").replace("return ", "return 1 + ") if name != "random" else "pass"
    assert step(row, wrong, modules=["numpy"]).reward == 0.0
    if name == "an array":
        with pytest.raises(Fault, match="imports what is not here: numpy"):
            step(row, program)
    else:
        assert step(row, program).reward == 0.0


ARRAYS = {
    "a shape without items": ("assert f(np.zeros((0, 3))).shape == (3, 0)", "return x.T", "return x"),
    "one number": ("assert f(np.array(3)).shape == () and f(np.array(3)) == 3", "return x", "return 3"),
    "short numbers": ("assert f(np.ones(2, 'float16')).dtype == np.float16", "return 2 * x", "return 2.0"),
    "a change": ("a = np.array([[1, 2]])\nf(a)\nassert a.tolist() == [[5, 2]]", "x[0, 0] = 5", "x[0] = 5"),
    "a change beside NaN": ("a = np.array([np.nan, 2])\nf(a)\nassert a[1] == 5", "x[1] = 5", "x = [1, 5]"),
    "a change of the shape": (
        "a = np.zeros(2)\nf(a)\nassert a[0] == 5",
        "x[0] = 5",
        "x.resize((1, 2), refcheck=False)",
    ),
    "an attribute": ("a = A(np.zeros(2))\na.x[1] = 5\nassert a.last() == 5", "return 1", "return 1\nclass A: x = 1"),
    "a long number": ("assert f(2) == 3", "return np.longdouble(x) + 1", "return np.longdouble(x)"),
    "a long complex number": ("assert f(2) == 3", "return np.clongdouble(x) + 1", "return np.clongdouble(x)"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_and_numbers_of_numpy_are_what_they_are_on_both_sides(name):
    code, right, wrong = ARRAYS[name]
    row = {"problem": "?", "tests": [f"import numpy as np\n{code}"]}
    own = "import numpy as np\nclass A:\n    def __init__(self, x): self.x = x\n    def last(self): return self.x[-1]\n"
    rewards = [step(row, f"{own}def f(x):\n    {body}", modules=["numpy"]).reward for body in (right, wrong)]
    assert rewards == [1.0, 0.0]


def test_an_array_that_a_call_returns_may_stand_for_a_list():
    for expected, returned, reward in (
        ([1.0, 1.0], "np.ones(n)", 1.0),
        ([1.0, 1.0], "np.ones(n, int)", 1.0),
        ([1, 1], "np.ones(n)", 0.0),
        ([1.0], "np.ones(n)", 0.0),
        ([[1.0], [1.0]], "np.ones((n, 1))", 1.0),
        ([1.0, 1.0], "np.ones((n, 1))", 0.0),
        ({"a": [True]}, "{'a': np.ones(1, bool)}", 1.0),
        (["a"], "np.array(['a'])", 0.0),
    ):
        row = {"problem": "?", "tests": {"fn_name": "f", "inputs": [[2]], "outputs": [expected]}}
        program = f"import numpy as np\ndef f(n): return {returned}"
        assert step(row, program, modules=["numpy"]).reward == reward, (expected, returned)


def test_a_result_that_cannot_be_made_here_is_a_wrong_result():
    program = "from fractions import Fraction\nclass F(Fraction): denominator = 0\ndef f(n): return F(n)"
    assert step(CALLS, program).reward == 0.0


def test_an_array_equals_what_it_is_only():
    row = {"problem": "?", "tests": ["import numpy as np\nassert (f(1) == np.array([1, 2])).all()"]}
    equal = "class A:\n    def __eq__(self, other): return self\n    def all(self): return True\n"
    for returned, reward in (("np.array([1, 2])", 1.0), ("np.array([1, 3])", 0.0), ("A()", 0.0)):
        program = f"import numpy as np\n{equal}\ndef f(n): return {returned}"
        assert step(row, program, modules=["numpy"]).reward == reward
    row = {"problem": "?", "tests": ["assert f(1) == [1, 2]"]}
    assert step(row, "import numpy as np\ndef f(n): return np.array([1, 2])", modules=["numpy"]).reward == 0.0


def test_what_a_program_says_of_numpys_functions_neither_wins_nor_makes_a_fault():
    row = {"problem": "?", "tests": ["import numpy as np\nassert np.allclose(f(1), [1.0, 2.0])"]}
    judging = "import numpy as np\nclass A:\n    def {}(self, *_, **__): return True\ndef f(n): return A()"
    for method in ("__array_ufunc__", "__array_function__", "__array__"):
        assert step(row, judging.format(method), modules=["numpy"]).reward == 0.0
    assert step(row, "def f(n): return numpy.array([n, 2 * n])\nimport numpy", modules=["numpy"]).reward == 1.0


def test_the_modules_are_in_the_instruction_and_have_to_be_there():
    question, _ = CodeQuestion([STDIN], modules=["numpy"]).reset(seed=0)
    assert "The standard library and numpy are there, and nothing else." in question
    assert "The standard library is there, and nothing else." in CodeQuestion([STDIN]).reset(seed=0)[0]
    for modules, message in (("numpy", "is a list"), (["no_such_module"], "pip install no_such_module")):
        with pytest.raises(ConfigError, match=message):
            CodeQuestion([STDIN], modules=modules)
    with pytest.raises(ConfigError, match="in Python"):
        CodeQuestion([STDIN], modules=["numpy"], language="javascript")


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
