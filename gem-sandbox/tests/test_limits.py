"""Each limit holds, and the result says which one it was."""

import sys
import time
from collections.abc import Iterator

import pytest
import sandbox_levels

from gem_sandbox import Job, Limits, Sandbox

MIB = 1 << 20


@pytest.fixture(scope="module", params=[*sandbox_levels.CONFINED, "process"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as box:
        yield box


@pytest.fixture(scope="module", params=["bubblewrap", "unshare"])
def private(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as box:
        yield box


def test_computing_too_long_is_cpu(box: Sandbox) -> None:
    result = box.run("while True: pass", timeout=0.3, wall=60)

    assert (result.reason, result.signal, result.exit_code) == ("cpu", 9, None)
    assert 0.25 < result.cpu < 1
    assert "0.3 s of CPU" in result.note


def test_threads_that_compute_share_the_cpu_time(box: Sandbox) -> None:
    code = "import threading, hashlib\ndef f():\n    while True: hashlib.sha256(b'x' * 10**6)\n"
    code += "for _ in range(4): threading.Thread(target=f).start()"

    assert box.run(code, timeout=0.4, wall=60).reason == "cpu"


def test_waiting_too_long_is_timeout(box: Sandbox) -> None:
    started = time.monotonic()

    result = box.run("import time\nprint('x', flush=True)\ntime.sleep(600)", wall=2)

    assert (result.reason, result.signal, result.stdout) == ("timeout", 9, "x\n")
    assert time.monotonic() - started < 60


def test_a_program_that_ignores_every_signal_ends_in_time_all_the_same(box: Sandbox) -> None:
    code = "import signal\nfor n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
    code += "    except (OSError, ValueError): pass\nwhile True:\n    try:\n        while True: pass\n    except: pass"

    assert box.run(code, timeout=0.3, wall=60).reason == "cpu"


@pytest.mark.full
def test_computing_is_not_cut_off_because_the_machine_is_busy() -> None:
    code = "import time\nwhile time.process_time() < 0.2: pass"
    with sandbox_levels.box_at("bubblewrap", slots=16) as busy:
        results = busy.run_many([Job(code=code, limits=Limits(timeout=0.5, wall=120))] * 16)

    assert [result.reason for result in results] == ["ok"] * 16


@pytest.mark.parametrize(
    "code",
    [
        "x = bytearray(10 ** 9)",
        "x = [0]\nwhile True: x = x * 2",
        "import mmap\nmmap.mmap(-1, 10 ** 9)[:] = 0\n",
        "x = {}\nfor i in range(10 ** 9): x[i] = str(i) * 100",
    ],
)
def test_memory_beyond_the_limit_is_not_to_be_had(box: Sandbox, code: str) -> None:
    result = box.run(code, memory=64 * MIB, timeout=20)

    assert result.reason == ("error" if "mmap" in code else "memory")
    assert result.max_rss < 150 * MIB


def test_memory_within_the_limit_is(box: Sandbox) -> None:
    assert box.run("x = bytearray(200 * 2 ** 20)\nprint(len(x))", memory=256 * MIB).stdout == "209715200\n"
    assert box.run("try:\n    bytearray(10 ** 9)\nexcept MemoryError: print('no')").stdout == "no\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_more_output_than_the_limit_is_cut_off(box: Sandbox, stream: str) -> None:
    result = box.run(f"import sys\nwhile True: sys.{stream}.write('x' * 10 ** 6)", output=1000)

    assert result.reason == "output"
    assert result.truncated
    assert getattr(result, stream) == "x" * 1000


def test_as_much_output_as_the_limit_is_fine_and_a_byte_more_is_not(box: Sandbox) -> None:
    exact = box.run("import sys\nsys.stdout.write('x' * 1000)", output=1000)
    more = box.run("import sys\nsys.stdout.write('x' * 1001)", output=1000)

    assert (exact.reason, exact.truncated) == ("ok", False)
    assert (more.reason, more.truncated, len(more.stdout)) == ("output", True, 1000)


def test_a_file_beyond_the_disk_is_disk(box: Sandbox) -> None:
    assert box.run("open('a', 'wb').write(bytes(2 * 2 ** 20))", disk=MIB).reason == "disk"


def test_many_files_beyond_the_disk_are_disk(private: Sandbox) -> None:
    code = "for i in range(100): open(str(i), 'wb').write(bytes(10 ** 5))"

    assert private.run(code, disk=MIB).reason == "disk"


def test_more_files_than_the_limit_are_disk(private: Sandbox) -> None:
    result = private.run("import os\nfor i in range(10 ** 6): os.mkdir(str(i)), print(i)", inodes=50)

    assert result.reason == "disk"
    assert 40 <= int(result.stdout.split()[-1]) <= 50


def test_on_a_shared_disk_a_program_that_fills_it_is_ended() -> None:
    code = "i = 0\nwhile True:\n    open(str(i), 'wb').write(bytes(10 ** 5))\n    i += 1"
    with sandbox_levels.box_at("landlock") as box:
        result = box.run(code, disk=MIB, timeout=20)

    assert result.reason == "disk"


def test_no_processes_and_no_programs_unless_asked_for(private: Sandbox) -> None:
    for code in ("import os\nos.fork()", "import os\nos.execv('/bin/true', ['true'])", "import os\nos.vfork()"):
        assert private.run(code).reason == "error"
    code = "import os\nfor _ in range(3):\n    if os.fork() == 0: os._exit(0)\n    os.wait()\nprint('parent')"

    assert private.run(code, processes=3).stdout == "parent\n"


def test_a_shell_runs_where_its_programs_are_readable() -> None:
    code = "import os\nos.execv('/bin/sh', ['sh', '-c', 'read x; echo \"got $x\" | tr a-z A-Z'])"
    with sandbox_levels.box_at("bubblewrap", readable=("/bin", "/usr/bin")) as box:
        assert box.run(code, stdin="this\n", processes=10).stdout == "GOT THIS\n"


def test_a_program_has_no_rights_and_no_way_to_get_any(private: Sandbox) -> None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
data = (ctypes.c_uint32 * 6)()
libc.capget((ctypes.c_uint32 * 2)(0x20080522, 0), data)
print(list(data), os.getgroups())
for call in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.chroot('/'), lambda: os.chown('.', 0, 0)):
    try:
        call()
    except PermissionError:
        print('refused')
"""
    assert private.run(code).stdout == "[0, 0, 0, 0, 0, 0] []\n" + "refused\n" * 4


def test_what_a_program_left_running_is_gone_when_the_result_comes(private: Sandbox) -> None:
    leave = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            with open('/sandbox/alive', 'a') as file: file.write('x')
            time.sleep(0.01)
    os._exit(0)
os.wait()
"""
    assert private.run(leave, processes=5).reason == "ok"

    look = "import os, time\ntime.sleep(0.1)\nprint(os.listdir('/sandbox'))\nos.kill(-1, 0)"
    after = private.run(look, processes=1)
    assert after.stdout == "[]\n"
    assert after.stderr.splitlines()[-1].startswith("ProcessLookupError")


def test_open_files_have_a_limit(box: Sandbox) -> None:
    code = "import os\nfiles = []\ntry:\n    while True: files.append(os.dup(0))\nexcept OSError: print(len(files))"

    assert box.run(code, open_files=20).stdout == "17\n"


def test_a_crash_is_killed_with_its_signal(box: Sandbox) -> None:
    result = box.run("import ctypes\nctypes.string_at(0)")

    assert (result.reason, result.signal, result.exit_code) == ("killed", 11, None)
    assert "SIGSEGV" in result.note


@pytest.mark.parametrize("status", [*range(0, 256, 17), 120, 124, 137])
def test_no_status_makes_a_program_look_like_a_fault_of_the_sandbox(box: Sandbox, status: int) -> None:
    result = box.run(f"import os\nos._exit({status})")

    assert (result.reason, result.exit_code) == ("ok" if status == 0 else "error", status)


@pytest.mark.parametrize("number", [1, 2, 3, 6, 9, 10, 13, 14, 15, 24, 25, 31, 40])
def test_no_signal_makes_a_program_look_like_a_fault_of_the_sandbox(box: Sandbox, number: int) -> None:
    code = f"import os, signal\nif {number} not in (9, 40): signal.signal({number}, signal.SIG_DFL)\n"
    result = box.run(f"{code}os.kill(os.getpid(), {number})")

    assert result.signal == number
    assert result.reason in ("killed", "cpu", "disk")


def test_results_report_what_was_used(box: Sandbox) -> None:
    idle = box.run("import time\ntime.sleep(0.3)")
    busy = box.run("import time\nx = bytearray(50 * 2 ** 20)\nwhile time.process_time() < 0.3: pass")

    assert idle.cpu < 0.2 < idle.duration
    assert busy.cpu >= 0.3
    assert busy.max_rss > 50 * MIB > idle.max_rss


def test_an_integer_of_any_length_can_be_written_and_read(box: Sandbox) -> None:
    digits = sys.get_int_max_str_digits() + 10

    assert box.run("print(int(input()) + 1)", stdin="9" * digits).stdout == f"1{'0' * digits}\n"
