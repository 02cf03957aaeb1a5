"""Programs that loop, flood, fork, hoard and crash: each gets its verdict, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from gem_envs_code import runner
from gem_envs_code.runner import Limits, RunnerError, run

FORK = """
import os, sys, time
print(os.getpid(), flush=True)
try:
    child = os.fork()
except OSError:
    sys.exit("no processes")
if child == 0:
    time.sleep(60)
print(child, flush=True)
"""


@pytest.fixture(autouse=True)
def nothing_stays_behind(monkeypatch, tmp_path):
    """No folder, file descriptor, zombie or thread is left after any of these tests."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    descriptors, threads = open_descriptors(), threading.active_count()
    yield
    assert list(tmp_path.iterdir()) == []
    assert open_descriptors() == descriptors
    assert threading.active_count() == threads
    with suppress(ChildProcessError):  # no children at all
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)


def open_descriptors():
    return sorted(os.listdir("/dev/fd"))


def is_alive(pid):
    """Whether a process runs; one that is dead and not yet collected by init does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def all_end(pids):
    """Whether all processes are gone; a kill takes a moment to be carried out."""
    for _ in range(100):
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.05)
    return False


def test_a_program_reads_its_input_and_its_output_and_status_come_back():
    result = run(
        "import sys\nfor line in sys.stdin: print(line.upper(), end='')\nprint('done', file=sys.stderr)", "a\nb\n"
    )
    assert result == runner.Result("exited", 0, "A\nB\n", "done\n")


def test_input_ends_where_it_ends():
    assert run("print(open(0).read().split())", "first\nrest").output == "['first', 'rest']\n"
    assert run("input()", "").errors.endswith("EOFError: EOF when reading a line\n")


def test_a_large_input_is_no_trouble_whether_it_is_read_or_not():
    text = "x" * 10**6
    assert run("print(len(input()))", text).output == "1000000\n"
    assert run("print('not read')", text).output == "not read\n"


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("", 0),
        ("import sys; sys.exit(3)", 3),
        ("exit(4)", 4),
        ("quit()", 0),
        ("import os; os._exit(5)", 5),
        ("import os; os.abort()", -6),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("1 / 0", 1),
        ("this is no program", 1),
        ("\x00", 1),
        ("x = '\ud800'", 1),
        ("(" * 5000, 1),
    ],
)
def test_every_end_is_a_verdict(program, status):
    assert (run(program).ending, run(program).status) == ("exited", status)


def test_unicode_comes_back_and_what_is_no_utf8_is_replaced():
    assert run("print('naïve 数 🧮')").output == "naïve 数 🧮\n"
    assert run("print(input()[::-1])", "añb").output == "bña\n"
    assert run("import os; os.write(1, b'a\\xffb')").output == "a\ufffdb"


def test_an_endless_loop_is_out_of_time():
    result = run("while True: pass", limits=Limits(cpu_seconds=1))
    assert (result.ending, result.status) == ("out of time", -signal.SIGXCPU)


def test_an_endless_loop_that_ignores_its_warning_is_killed_and_out_of_time():
    program = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    result = run(program, limits=Limits(cpu_seconds=1))
    assert (result.ending, result.status) == ("out of time", -signal.SIGKILL)


def test_a_program_that_ignores_its_warning_and_ends_by_itself_is_out_of_time():
    program = (
        "import signal, time\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile time.process_time() < 1.3: pass"
    )
    result = run(program, limits=Limits(cpu_seconds=1))
    assert (result.ending, result.status) == ("out of time", 0)


def test_sleeping_is_out_of_time_even_with_the_output_closed():
    program = "import os, time\nprint(os.getpid(), flush=True)\nos.close(1)\nos.close(2)\ntime.sleep(60)"
    result = run(program, limits=Limits(seconds=2))
    assert result.ending == "out of time"
    assert all_end([int(result.output)])


def test_a_flood_of_output_is_stopped_at_the_bound():
    flood = "import os\nwhile True: os.write({stream}, b'x' * 65536)"
    for stream in (1, 2):
        result = run(flood.format(stream=stream), limits=Limits(output=100_000))
        assert result.ending == "too much output"
        assert 100_000 < len(result.output + result.errors) < 200_000


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit the address space")
@pytest.mark.parametrize("hoard", ["bytearray(2**30)", "print('x' * 2**30)", "[0] * 2**30"])
def test_a_hoard_of_memory_is_refused(hoard):
    result = run(hoard)
    assert (result.status, result.errors.split()[-1]) == (1, "MemoryError")


def test_a_large_file_is_refused():
    assert "File too large" in run("open('x', 'wb').write(bytes(2**21))").errors


def test_deep_recursion_ends_in_an_error():
    assert "RecursionError" in run("def f(): return f()\nf()").errors
    assert (
        run("import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()", limits=Limits(cpu_seconds=1)).status
        != 0
    )


def test_a_child_that_would_outlive_the_program_is_killed():
    result = run(FORK)
    if os.geteuid():
        assert result.errors == "no processes\n"
    else:
        assert len(result.output.split()) == 2
    assert result.ending == "exited"
    assert all_end(result.output.split())


def test_children_are_killed_with_a_program_out_of_time():
    result = run(FORK + "time.sleep(60)", limits=Limits(seconds=2))
    assert all_end(result.output.split())
    assert result.ending == "exited" if os.geteuid() else "out of time"


def test_a_program_starts_in_an_empty_folder_as_the_main_module():
    look = "import os, sys, __main__\nprint(os.listdir(), sys.argv, __name__, vars(__main__) is globals())"
    assert run(look).output == "['main.py'] ['main.py'] __main__ True\n"
    assert run("import sys; print(sys.orig_argv)").output == "['main.py']\n"


def test_a_program_has_the_standard_library_and_no_package_and_no_open_file_of_ours():
    assert run("import json, statistics, zoneinfo").status == 0
    assert "No module named 'pluggy'" in run("import pluggy").errors
    assert (
        run(
            "import os\nfor fd in range(3, 1024):\n  try: os.fstat(fd)\n  except OSError: pass\n  else: print(fd)"
        ).output
        == ""
    )


def test_the_parents_environment_and_hash_seed_do_not_show(monkeypatch):
    monkeypatch.setenv("SECRET", "1")
    look = "import os; print(hash('a'), sorted(os.environ.keys() - {'LC_CTYPE'}))"  # Python itself sets LC_CTYPE
    outputs = set()
    for hash_seed in ("1", "2", "3"):
        monkeypatch.setenv("PYTHONHASHSEED", hash_seed)
        outputs.add(run(look).output.partition(" ")[::2])
    assert len(outputs) == 1
    assert outputs.pop()[1] == "['PYTHONHASHSEED']\n"


def test_many_run_at_once_from_threads():
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda n: run("print(int(input()) ** 2)", str(n)).output, range(24)))
    assert outputs == [f"{n * n}\n" for n in range(24)]


def test_a_fault_of_the_runner_raises_and_is_no_verdict(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/sh")
    with pytest.raises(RunnerError, match="not started"):
        run("print(1)")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(FileNotFoundError):
        run("print(1)")
