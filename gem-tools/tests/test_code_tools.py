"""The tools that run programs, in the real sandbox: what the agent sees, and what is kept between calls."""

import asyncio
import subprocess
import sys
import threading

import pytest

import gem
from gem.errors import ConfigError
from gem.packs.lookup import find_named, find_tools
from gem.tool import ToolError
from gem.wrappers.tool_env import ToolEnv
from gem_tools.code.bash import bash_tool
from gem_tools.code.notebook import notebook_tool
from gem_tools.code.python import python_tool


def answer(tool, **arguments):
    """Text of the tool, and whether it is an error."""
    state = [tool.resource.open()] if tool.resource else []
    try:
        return asyncio.run(tool.function(*state, **arguments)), True
    except ToolError as error:
        return str(error), False


def in_notebook(*cells, **settings):
    """Answers of a notebook to each cell."""
    tool = notebook_tool(**settings)
    state = tool.resource.open()
    output = []
    for code in cells:
        try:
            output.append(asyncio.run(tool.function(state, code)))
        except ToolError as error:
            output.append(str(error))
    return output


def test_python_returns_what_a_program_prints():
    assert answer(find_tools("python")[0], code="import math\nprint(math.factorial(20))") == (
        "2432902008176640000",
        True,
    )


def test_python_has_numpy_and_no_other_library():
    assert answer(python_tool(), code="import numpy as np\nprint(np.arange(5).sum())") == ("10", True)
    output, success = answer(python_tool(), code="import pydantic")
    assert not success
    assert "No module named 'pydantic'" in output


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("print('before')\nraise SystemExit(3)", "before\n(The program ended with status 3.)"),
        ("print(", "SyntaxError"),
        ("while True: pass", "(The program used more than 0.5 s of CPU time.)"),
        ("while True: print('yes' * 1000)", "(The program printed more than 4194304 bytes of output.)"),
        ("open('f', 'w').write('x' * 10**8)", "(The program wrote more than "),
        ("x = bytearray(2**30)", "MemoryError"),
        ("import os; os.kill(os.getpid(), 9)", "(The program was ended by signal 9 (SIGKILL).)"),
    ],
)
def test_a_program_that_fails_is_answered_with_the_reason(code, says):
    # On a busy machine only the program that is meant to should reach the limit on CPU time.
    limit = 0.5 if "CPU time" in says else 10.0
    output, success = answer(python_tool(timeout=limit), code=code)
    assert not success
    assert says in output


def test_a_program_without_output_is_answered_with_a_note():
    assert answer(python_tool(), code="x = 1") == ("(The program printed nothing.)", True)


def test_only_the_last_line_of_a_traceback_can_be_shown():
    code = "print(1)\n1 / 0"
    assert answer(python_tool(last_line_of_errors=True), code=code)[0] == "1\nZeroDivisionError: division by zero"


def test_python_keeps_nothing_from_one_call_to_the_next():
    tool = python_tool()
    assert answer(tool, code="import builtins; builtins.x = 1; open('f', 'w').write('x')") == (
        "(The program printed nothing.)",
        True,
    )
    assert "NameError" in answer(tool, code="print(x)")[0]
    assert answer(tool, code="import os; print(os.listdir())")[1]
    assert "f" not in answer(tool, code="import os; print(os.listdir())")[0].split("'")


def test_a_notebook_remembers_what_earlier_cells_defined_and_shows_the_last_value():
    output = in_notebook("x = 3\ndef f(n):\n    return n * x", "print('hello')", "f(2)", "x = 4", "f(2) + 1", "None")
    assert output[1:3] == ["hello", "6"]
    assert output[4] == "9"
    assert output[5] == output[0] == output[3] == "(The program printed nothing.)"


def test_a_cell_that_fails_keeps_earlier_definitions_and_its_traceback_shows_the_cell():
    output = in_notebook("a = 1\nb = a / 0\nc = 2", "a", "c")
    assert 'File "<cell 1>", line 2, in <module>\n    b = a / 0' in output[0]
    assert "notebook" not in output[0]
    assert output[1] == "1"
    assert "NameError: name 'c' is not defined" in output[2]


def test_a_cell_that_is_ended_at_a_limit_is_not_kept_and_the_next_one_runs():
    output = in_notebook("x = 1", "x = 2\nwhile True: pass", "x", timeout=0.5)
    assert "CPU time" in output[1]
    assert output[2] == "1"


def test_a_notebook_is_not_ended_by_exit_and_draws_the_same_numbers_again():
    draw = "import random, numpy\na = random.random(), numpy.random.rand()"
    output = in_notebook(draw, "a", "import sys; sys.exit(2)", "a", "'end'")
    assert output[1] == output[3]
    assert output[4] == "'end'"


class Guess(gem.TurnEnv):
    """Any number will do."""

    def _reset(self, options):
        return "Say anything."

    def _step(self, action):
        return gem.Step.ongoing("Go on.") if action != "end" else gem.Step.final("Good.", 1.0, success=True)

    def sample_action(self):
        return "anything"


def test_a_notebook_belongs_to_the_episode_and_survives_a_snapshot_and_a_fork():
    env = ToolEnv(Guess(), "notebook")
    env.reset(seed=0)
    env.step("<notebook>x = 41</notebook>")
    state = env.snapshot()
    (fork,) = env.fork(1)
    env.step("<notebook>x = 7</notebook>")
    assert "42" in fork.step("<notebook>x + 1</notebook>").observation
    other = ToolEnv(Guess(), "notebook")
    other.restore(state)
    assert "42" in other.step("<notebook>x + 1</notebook>").observation
    assert "8" in env.step("<notebook>x + 1</notebook>").observation
    env.reset(seed=0)
    assert "NameError" in env.step("<notebook>x</notebook>").observation
    for each in (env, fork, other):
        each.close()


def test_bash_runs_commands_in_an_empty_folder_without_network():
    bash = find_tools("bash")[0]
    assert answer(bash, commands="echo hi | tr a-z A-Z\nseq 3 | wc -l") == ("HI\n3", True)
    assert answer(bash, commands="touch new") == ("(The program printed nothing.)", True)
    assert "new" not in answer(bash, commands="ls")[0]
    output, success = answer(bash, commands="cat /etc/shadow; exit 4")
    assert not success
    assert "No such file" in output or "denied" in output
    assert answer(bash, commands="yes")[0].endswith("(The program printed more than 4194304 bytes of output.)")
    output, success = answer(bash, commands="exec 3<>/dev/tcp/127.0.0.1/80")
    assert not success


def test_bash_has_as_many_processes_beside_it_as_its_documentation_says():
    # `sh` says that it cannot fork, where bash would try again for some seconds.
    count = "exec sh -c 'for i in $(seq 100); do sleep 60 & echo $i; done'"
    for bash, most in ((bash_tool(), 32), (bash_tool(processes=3), 3)):
        output, success = answer(bash, commands=count)
        assert not success
        assert output.splitlines()[most - 1] == str(most)
        assert str(most + 1) not in output.splitlines()


def test_wrappers_with_gem_llms_names_give_its_rewards():
    wrong = "<python>1 / 0</python>"
    right = "I compute.\n<python>print(6 * 7)</python>"
    for name, rewards in {
        "python_tool": (0.05, 0.3),
        "python_tool_no_int_reward": (0.0, 0.0),
        "python_tool_no_int_reward_last_line_error": (0.0, 0.0),
    }.items():
        with find_named("wrapper", name)(Guess()) as env:
            env.reset(seed=0)
            steps = env.step(wrong), env.step(right)
            assert [step.reward for step in steps] == pytest.approx(rewards)
            assert ("Traceback" in steps[0].observation) == (not name.endswith("last_line_error"))
            assert "42" in steps[1].observation


def test_many_threads_share_the_slots_of_one_sandbox():
    tool = python_tool()
    answers = {}

    def work(number):
        answers[number] = answer(tool, code=f"print({number} ** 2)")[0]

    threads = [threading.Thread(target=work, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: str(number**2) for number in range(20)}


@pytest.mark.parametrize("make_tool", [python_tool, notebook_tool, bash_tool])
def test_where_the_level_does_not_work_the_first_call_raises_gems_error_that_says_what_to_do(
    make_tool, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    tool = make_tool(level="bubblewrap", **({} if make_tool is bash_tool else {"modules": ("json",)}))
    with pytest.raises(ConfigError, match=r"(?s)apt-get install bubblewrap.*accept less by name"):
        answer(tool, **{"commands" if make_tool is bash_tool else "code": "1"})


def test_a_program_that_used_the_tools_leaves_no_process_behind_when_it_ends():
    program = (
        "import asyncio\n"
        "from gem_tools.code.python import python_tool\n"
        "print(asyncio.run(python_tool(modules=()).function(code='print(6 * 7)')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=300, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")
