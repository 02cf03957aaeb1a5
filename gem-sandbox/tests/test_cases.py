"""run_tests: one program against many cases."""

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import sandbox_levels

from gem_sandbox import Sandbox, run_tests, same_output
from gem_sandbox.cases import run_cases
from gem_sandbox.errors import SandboxLost
from gem_sandbox.levels import Level
from gem_sandbox.limits import Limits
from gem_sandbox.slot import Outcome, SlotLost

SQUARES = [(f"{i}\n", f"{i * i}\n") for i in range(40)]


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as box:
        yield box


PASSING = {
    "input": "n = int(input())\nprint(n * n)",
    "descriptor 0": "n = int(open(0).read())\nprint(n * n)",
    "binary": "import sys\nn = int(sys.stdin.buffer.read())\nsys.stdout.buffer.write(b'%d' % (n * n))",
    "exit": "n = int(input())\nprint(n * n)\nexit()",
    "os._exit": "import os\nn = int(input())\nprint(n * n, flush=True)\nos._exit(0)",
    "a global that is spoilt": "import builtins\nn = int(input())\nprint(n * n)\nbuiltins.int = None",
    "a module that is spoilt": "import math\nprint(math.prod([int(input())] * 2))\nmath.prod = None",
    "an output that is closed": "import sys\nprint(int(input()) ** 2)\nsys.stdout.close()\nsys.stdin.close()",
    "descriptors that are closed": "import os\nn = int(input())\nprint(n * n, flush=True)\nos.close(1)\nos.close(0)",
    "a thread": "import threading\nn = int(input())\nthreading.Thread(target=print, args=(n * n,)).start()",
    "a daemon": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    "print(int(input()) ** 2)",
    "a pool": "from concurrent.futures import ThreadPoolExecutor\n"
    "print(ThreadPoolExecutor(2).submit(pow, int(input()), 2).result())",
    "atexit": "import atexit\natexit.register(print, int(input()) ** 2)",
    "a file": "import os\nassert not os.path.exists('seen')\nprint(int(input()) ** 2)\nopen('seen', 'w').close()",
    "many files open": "import os\nfds = [os.dup(0) for _ in range(100)]\nprint(int(input()) ** 2)",
}


@pytest.mark.parametrize("name", PASSING)
def test_a_program_that_is_right_passes_every_case(box: Sandbox, name: str) -> None:
    verdict = box.run_tests(PASSING[name], SQUARES)

    assert [case.result.reason for case in verdict.cases] == ["ok"] * 40
    assert (verdict.passed, verdict.count, verdict.total) == (True, 40, 40)


FAILING = {
    "wrong": ("n = int(input())\nprint(n * n if n not in (3, 17) else -1)", "ok"),
    "an exception": ("n = int(input())\nprint(n * n, flush=True)\nif n in (3, 17): 1 / 0", "error"),
    "a status": ("n = int(input())\nprint(n * n, flush=True)\nif n in (3, 17): exit(1)", "error"),
    "an end": ("import os\nn = int(input())\nif n in (3, 17): os._exit(0)\nprint(n * n)", "ok"),
    "a signal": ("import os\nn = int(input())\nprint(n * n, flush=True)\nif n in (3, 17): os.abort()", "killed"),
    "cpu": ("n = int(input())\nprint(n * n, flush=True)\nwhile n in (3, 17): pass", "cpu"),
    "memory": ("n = int(input())\nif n in (3, 17): bytearray(10 ** 10)\nprint(n * n)", "memory"),
    "output": ("n = int(input())\nprint(n * n)\nwhile n in (3, 17): print('x' * 10 ** 6)", "output"),
}


@pytest.mark.parametrize("name", FAILING)
def test_the_cases_that_fail_are_those_and_no_others(box: Sandbox, name: str) -> None:
    code, reason = FAILING[name]

    verdict = box.run_tests(code, SQUARES, timeout=0.3, wall=60, stop="never")

    assert [i for i, case in enumerate(verdict.cases) if not case.passed] == [3, 17]
    assert [verdict.cases[i].result.reason for i in (3, 17)] == [reason] * 2
    assert (verdict.passed, verdict.count, verdict.total) == (False, 38, 40)


@pytest.mark.parametrize("name", FAILING)
def test_the_first_failure_ends_the_test_unless_asked_otherwise(box: Sandbox, name: str) -> None:
    verdict = box.run_tests(FAILING[name][0], SQUARES, timeout=0.3, wall=60)

    assert [case.passed for case in verdict.cases] == [True] * 3 + [False]
    assert (verdict.passed, verdict.total) == (False, 40)


HANGING = {"cpu": ("while n in (3, 17): pass", 60), "timeout": ("import time\nif n in (3, 17): time.sleep(60)", 1)}


@pytest.mark.parametrize("reason", HANGING)
def test_a_case_out_of_time_ends_the_test_where_asked_to_and_other_failures_do_not(box: Sandbox, reason: str) -> None:
    hang, wall = HANGING[reason]
    code = f"n = int(input())\nprint(n * n if n != 1 else -1, flush=True)\n{hang}"

    verdict = box.run_tests(code, SQUARES, timeout=0.3, wall=wall, stop="timeout")

    assert [(case.passed, case.result.reason) for case in verdict.cases] == [
        (True, "ok"),
        (False, "ok"),
        (True, "ok"),
        (False, reason),
    ]
    assert (verdict.passed, verdict.count, verdict.total) == (False, 2, 40)


def test_a_first_case_out_of_time_is_the_only_one_where_asked_to(box: Sandbox) -> None:
    verdict = box.run_tests("while True: pass", SQUARES, timeout=0.3, wall=60, stop="timeout")

    assert [case.result.reason for case in verdict.cases] == ["cpu"]


def test_a_program_that_cannot_be_right_fails_every_case(box: Sandbox) -> None:
    for code in ("print(", "", "raise SystemExit(1)", "import os\nos.kill(os.getpid(), 9)"):
        verdict = box.run_tests(code, SQUARES[:6], stop="never")

        assert [case.passed for case in verdict.cases] == [False] * 6


SEARCH = """
import gc, re, sys
input()
texts = []
frame = sys._getframe()
while frame:
    texts += [repr(value)[:10 ** 6] for value in (*frame.f_locals.values(), *frame.f_globals.values())]
    frame = frame.f_back
texts += [repr(one)[:10 ** 6] for one in gc.get_objects() if isinstance(one, (list, tuple, dict, set))]
print(sorted({found for text in texts for found in re.findall('answer-[0-9a-f]{8}', text)}))
"""


def test_the_expected_outputs_are_nowhere_to_be_found(box: Sandbox) -> None:
    verdict = box.run_tests(SEARCH, [(f"{i}\n", f"answer-{i:08x}\n") for i in range(5)], timeout=60, stop="never")
    control = box.run(f"hidden = ['answer-' + '{7:08x}']\n{SEARCH}", stdin="0\n", timeout=60)

    assert {case.result.stdout for case in verdict.cases} == {"[]\n"}
    assert control.stdout == "['answer-00000007']\n"


LOOK_AROUND = """
import gc, os, random, resource, signal, stat, sys, threading
def opened(fd):
    try:
        return stat.S_IFMT(os.fstat(fd).st_mode), os.lseek(fd, 0, os.SEEK_CUR), os.get_inheritable(fd)
    except OSError:
        return None
frame, depth = sys._getframe(), 0
while frame:
    frame, depth = frame.f_back, depth + 1
print([(fd, opened(fd)) for fd in range(300) if opened(fd)], depth, sorted(sys.modules), os.listdir(), dict(os.environ))
print([resource.getrlimit(which) for which in range(16)], [signal.getsignal(n) for n in range(1, 60) if n != 32])
print(sys.argv, sys.path, os.getcwd(), os.umask(0), os.getppid(), threading.active_count(), gc.get_count())
print(len(gc.get_objects()), os.stat(".").st_nlink, resource.getrusage(resource.RUSAGE_CHILDREN), hash("x"))
print(os.getpid() if os.getppid() == 1 else "", file=sys.__stdout__)  # where it has process ids of its own
threading.Thread(target=input).start()
"""


def test_every_case_finds_what_every_program_finds(box: Sandbox) -> None:
    found = {box.run(LOOK_AROUND, stdin="8\n").stdout.encode()}

    def noted(written: bytes, _: bytes) -> bool:
        found.add(written)
        return True

    assert box.run_tests(LOOK_AROUND, SQUARES[:8], same=noted).passed
    assert len(found) == 1
    assert found.pop().count(b"\n") == 5


SEARCH_WHAT_WAS_LEFT = """
import gc, os, sys, types
name = f"input-{int(input())}"
def held():
    gc.unfreeze()
    frame = sys._getframe()
    while frame:
        yield frame.f_locals
        frame = frame.f_back
    for one in gc.get_objects():
        yield one
        if isinstance(one, types.GeneratorType) and one.gi_frame:
            yield one.gi_frame.f_locals
# The machine's own files have names such as input-mouse.png.
numbers = {each[6:7] for at, folders, files in os.walk("..") for each in (*folders, *files) if each[:6] == "input-"}
found = {"disk" for number in numbers if number.isdigit()}
for one in held():
    for part in (*one, *one.values()) if isinstance(one, dict) else one if isinstance(one, (list, tuple, set)) else ():
        if isinstance(part, dict) and "max_rss" in part:
            found.add("outcome")
        if isinstance(part, str) and part[:6] == "input-" and part[6:7].isdigit() and part[:7] != name[:7]:
            found.add("memory")
print(*sorted(found))
os.makedirs("before", exist_ok=True)
for number in range(900):
    os.mkdir(f"before/{name}-{number}")
"""


def test_a_case_finds_nothing_that_the_one_before_it_left_on_disk_or_in_memory(box: Sandbox) -> None:
    verdict = box.run_tests(SEARCH_WHAT_WAS_LEFT, [(f"{n}\n", "") for n in range(4)], stop="never", timeout=60)
    plant = "import os\nos.makedirs('before/input-8')\nkept = ['input-8'], {'max_rss': 1}\n"
    control = box.run(plant + SEARCH_WHAT_WAS_LEFT, stdin="7\n", timeout=60)

    assert [case.result.stdout for case in verdict.cases] == ["\n"] * 4
    assert control.stdout == "disk memory outcome\n"


def test_the_age_of_its_folder_does_not_tell_a_program_whether_the_one_before_it_wrote_anything(box: Sandbox) -> None:
    for code in ("", "open('a', 'w').close()"):
        box.run(code)
        time.sleep(0.1)
        before = time.time()

        changed = float(box.run("import os\nprint(os.stat('.').st_ctime)").stdout)

        assert changed > before - 0.05  # the clock of files ticks every few milliseconds


FLOOD = """
from pathlib import Path
from gem_sandbox import Sandbox
text = "\U0001f600" * 2**20
program = f"import os\\ntext = {text[0]!r}.encode() * 2**20\\nfor fd in (2, 1):\\n    os.write(fd, text)"
with Sandbox(slots=1) as box:
    right, wrong = (box.run_tests(program, [("", expected)] * 100, stop="never") for expected in (text, "no"))
assert (right.count, wrong.count) == (100, 0)
assert all(len(case.result.stdout) + len(case.result.stderr) < 5000 for case in right.cases)
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))
"""


@pytest.mark.full
def test_two_hundred_cases_that_write_all_they_may_need_little_memory() -> None:
    sandbox_levels.need("landlock")

    done = subprocess.run([sys.executable, "-c", FLOOD], capture_output=True, text=True, timeout=300, check=False)

    assert done.stderr == ""
    assert int(done.stdout) < 300 * 1024


def test_outputs_are_compared_as_bytes(box: Sandbox) -> None:
    for written, expected in (("\\xff", "\ufffd"), ("\\xed\\xa0\\x80", "???"), ("a\\xe2\\x80\\xa8b", "a\nb")):
        code = f"import os\nos.write(1, b'{written}\\n')"

        assert not box.run_tests(code, [("", f"{expected}\n")]).passed
    assert box.run_tests("import os\nos.write(1, b'\\xff')", [(b"\xfe", b"\xff")]).passed


def test_slow_cases_have_the_whole_time_each(box: Sandbox) -> None:
    code = "import time\nn = int(input())\nstart = time.process_time()\n"
    code += "while time.process_time() - start < 0.1: pass\nprint(n * n)"

    assert box.run_tests(code, SQUARES[:6], timeout=0.3, wall=60).passed


def test_outputs_are_compared_as_asked(box: Sandbox) -> None:
    cases = [("1.0000001\n", "1.0\n"), ("2.0\n", "2.0\n")]

    close = box.run_tests("print(input())", cases, same=lambda a, b: abs(float(a) - float(b)) < 1e-3)

    assert close.passed
    assert not box.run_tests("print(input())", cases).passed


@pytest.mark.parametrize(
    ("written", "expected", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a  \nb\n\n\n", "a\nb\n", True),
        ("a\r\nb\r\n", "a\nb\n", True),
        ("", "\n", True),
        ("a b", "a  b", False),
        (" a", "a", False),
        ("a\n\nb", "a\nb", False),
        ("1", "1.0", False),
        ("", "a", False),
    ],
)
def test_blanks_at_the_ends_do_not_count(written: str, expected: str, same: bool) -> None:
    assert same_output(written.encode(), expected.encode()) is same


def test_it_is_there_without_a_sandbox_of_ones_own() -> None:
    sandbox_levels.need("landlock")

    assert run_tests("print(input())", [("a", "a"), ("b", "b")], timeout=5).passed


def test_a_slot_that_dies_once_changes_no_verdict_and_twice_gives_none() -> None:
    losses = 1

    def play(stdin: object) -> tuple[Level, Outcome]:
        nonlocal losses
        losses -= 1
        if losses >= 0:
            raise SlotLost("it died", "landlock")
        return "landlock", Outcome(
            status=0, ended=None, duration=0, cpu=0, max_rss=0, full=False, stdout=b"a", stderr=b""
        )

    assert run_cases(play, [("", "a")], Limits(), same_output).passed
    losses = 2
    with pytest.raises(SandboxLost, match="it died"):
        run_cases(play, [("", "a")], Limits(), same_output)
