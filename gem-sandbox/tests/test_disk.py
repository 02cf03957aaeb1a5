"""No program gets past the limits of its disk, whatever it does, and none leaves anything to the next."""

import os
from collections.abc import Iterator

import pytest
import sandbox_levels
from sandbox_processes import eventually

from gem_sandbox import Sandbox

MIB = 1 << 20
LIMIT = 8 * MIB

TAKE = """
import ctypes, fcntl, mmap, os, socket, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_long] * 5]
libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
MIB = 1 << 20
held = []
taken = 0
def make(name):
    return os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
def note(file):
    global taken
    taken += os.fstat(file).st_blocks * 512
    os.write(1, b"%d\\n" % taken)
def fill(file, size=MIB):
    os.write(file, b"x" * size)
    note(file)
def often(step):
    for number in range(300):
        step(str(number))
"""
"""Programs tell, with each step, how many bytes of disk they have taken so far."""

WAYS = {
    "many files": "often(lambda name: fill(make(name)))",
    "one file": "file = make('a')\ndef step(name):\n    global taken\n    taken = 0\n    fill(file)\noften(step)",
    "a folder that cannot be listed": "os.mkdir('d', 0o300)\noften(lambda name: fill(make('d/' + name)))",
    "very long paths": "for _ in range(30):\n    os.mkdir('d' * 250)\n    os.chdir('d' * 250)\n"
    "often(lambda name: fill(make(name)))",
    "removed files": "def step(name):\n    file = make(name)\n    os.unlink(name)\n    fill(file)\noften(step)",
    "files without a name": "often(lambda name: fill(os.open('.', os.O_RDWR | os.O_TMPFILE)))",
    "room behind the end": "def step(name):\n    file = make(name)\n    if libc.fallocate(file, 1, 0, MIB):\n"
    "        sys.exit('refused')\n    note(file)\noften(step)",
    "room that is reserved": "def step(name):\n    file = make(name)\n    os.posix_fallocate(file, 0, MIB)\n"
    "    note(file)\noften(step)",
    "removed files in memory": "def step(name):\n    file = make(name)\n    fill(file)\n"
    "    held.append(libc.mmap(None, 4096, 1, 2, file, 0))\n    os.unlink(name)\n"
    "    os.close(file)\noften(step)",
    "holes that are filled": "def step(name):\n    file = make(name)\n    os.ftruncate(file, MIB)\n"
    "    held.append(mmap.mmap(file, MIB))\n    held[-1][:] = b'x' * MIB\n    note(file)\n"
    "often(step)",
    "holes that come after the map": "files = [make(str(n)) for n in range(90)]\n"
    "maps = [libc.mmap(None, MIB, 3, 1, file, 0) for file in files]\n"
    "for file, place in zip(files, maps):\n    os.pwrite(file, b'x', MIB - 1)\n"
    "    ctypes.memset(place, 120, MIB)\n    note(file)",
    "descriptors in a socket": "a, b = socket.socketpair()\ndef step(name):\n    file = make(name)\n"
    "    os.unlink(name)\n    fill(file)\n    socket.send_fds(a, [b'x'], [file])\n    os.close(file)\noften(step)",
    "descriptors of a thread": "def run():\n    libc.close_range(1000, 1001, 2)\n    for number in range(100):\n"
    "        name = threading.current_thread().name + str(number)\n        file = make(name)\n"
    "        os.unlink(name)\n        fill(file)\n"
    "threads = [threading.Thread(target=run) for _ in range(4)]\nfor t in threads: t.start()\n"
    "for t in threads: t.join()",
    "a first thread that has ended": "def run():\n    for n in range(100):\n        file = make(str(n))\n"
    "        os.unlink(str(n))\n        fill(file)\n    os._exit(0)\n"
    "threading.Thread(target=run).start()\nlibc.syscall(60 if os.uname().machine == 'x86_64' else 93, 0)",
    "sizes beyond all bounds": "file = make('a')\nlibc.write(file, b'x', ctypes.c_size_t(-1))\n"
    "libc.ftruncate(file, -1)\nlibc.pwrite(file, b'x', ctypes.c_size_t(-1), 0)\n"
    "libc.ftruncate(file, ctypes.c_long(2 ** 63 - 1))\n"
    "often(lambda name: fill(make(name)))",
    "threads at once": "def run():\n"
    "    for number in range(100): fill(make(threading.current_thread().name + str(number)))\n"
    "threads = [threading.Thread(target=run) for _ in range(8)]\nfor t in threads: t.start()\n"
    "for t in threads: t.join()",
    "a file instead of the output": "out = os.dup(1)\ndef step(name):\n    global taken\n    file = make(name)\n"
    "    os.dup2(file, 1)\n    os.write(1, b'x' * MIB)\n    taken += os.fstat(1).st_blocks * 512\n"
    "    os.write(out, b'%d\\n' % taken)\n    held.append(os.dup(1))\noften(step)",
    "other calls": "whole = make('whole')\nos.write(whole, b'x' * MIB)\ndef step(name):\n    file = make(name)\n"
    "    os.writev(file, [b'x' * (MIB // 2)])\n    os.pwritev(file, [b'x' * MIB], 10)\n"
    "    os.sendfile(file, whole, 0, MIB)\n    os.copy_file_range(whole, file, MIB, 0, MIB)\n"
    "    note(file)\noften(step)",
    "links to what is long": "often(lambda name: [os.symlink('x' * 4000, name + str(n)) for n in range(20)])",
    "names": "make('a')\nfor n in range(60000): os.link('a', f'{n:0250}')",
    "empty files": "for n in range(40000): os.close(make(str(n)))",
    "folders": "for n in range(40000): os.mkdir(str(n))",
    "a deep chain": "for n in range(10000):\n    os.mkdir('d')\n    os.chdir('d')",
}


MODEST = {
    "rewrites a file": "file = make('a')\nfor _ in range(100): os.pwrite(file, b'x' * 6 * MIB, 0)",
    "appends and empties": "for _ in range(30):\n    with open('a', 'wb') as file: file.write(b'x' * 6 * MIB)",
    "makes and removes files": "for n in range(3000):\n    os.close(make('a'))\n    os.unlink('a')",
    "makes and removes folders": "for n in range(1500):\n    os.mkdir('a')\n    os.rmdir('a')",
    "closes removed files": "for n in range(30):\n    file = make('a')\n    os.unlink('a')\n"
    "    os.write(file, b'x' * 6 * MIB)\n    os.close(file)",
    "writes by memory": "file = make('a')\nos.ftruncate(file, 6 * MIB)\nfor n in range(20):\n"
    "    with mmap.mmap(file, 6 * MIB) as place: place[:] = bytes([n]) * 6 * MIB\n    os.write(file, b'x' * MIB)\n"
    "    os.lseek(file, 0, 0)",
    "writes to pipes": "read, write = os.pipe()\nfor n in range(1000):\n    os.write(write, b'x' * 32768)\n"
    "    os.read(read, 32768)",
    "writes by threads that come and go": "def run(name):\n    for _ in range(3):\n"
    "        with open(name, 'wb') as file: file.write(b'x' * MIB)\n    os.unlink(name)\n"
    "for _ in range(20):\n    threads = [threading.Thread(target=run, args=(str(n),)) for n in range(6)]\n"
    "    for t in threads: t.start()\n    for t in threads: t.join()",
    "handles signals": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: None)\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nfor n in range(100):\n"
    "    with open('a', 'wb', buffering=0) as file: file.write(b'x' * 100000)",
}
"""Programs that stay within the limits at each moment, and write many times as much in all."""


@pytest.fixture(scope="module", params=sandbox_levels.CONFINED)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as box:
        yield box


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_past_the_limits_of_the_disk_and_nothing_is_left(box: Sandbox, way: str) -> None:
    result = box.run(TAKE + WAYS[way], disk=LIMIT, output=MIB, open_files=1000, timeout=20, memory=1 << 30)

    assert result.reason in ("disk", "error") if result.level == "landlock" else result.reason != "sandbox_error", (
        result
    )
    assert max(map(int, result.stdout.split()), default=0) <= 2 * LIMIT
    assert box.run("import os\nprint(os.listdir('.'))").stdout == "[]\n"
    assert eventually(lambda: not left(box))


@pytest.mark.parametrize("does", MODEST)
def test_a_program_that_stays_within_the_limits_of_its_disk_is_let_be(box: Sandbox, does: str) -> None:
    result = box.run(TAKE + MODEST[does] + "\nprint('done')", disk=LIMIT, timeout=60, memory=1 << 30)

    assert (result.reason, result.stdout) == ("ok", "done\n"), result


ENDS = """
import os, random, threading, time
data = b"x" * (1 << 18)
def run():
    file = os.open("a", os.O_RDWR | os.O_CREAT)
    while True:
        os.pwrite(file, data, 0)
for _ in range(3):
    threading.Thread(target=run, daemon=True).start()
time.sleep(random.random() * 0.01)
os._exit(0)
"""


def test_a_program_that_ends_while_what_it_has_is_counted_ends_as_any_other() -> None:
    with sandbox_levels.box_at("landlock") as box:
        reasons = {box.run(ENDS, disk=(1 << 18) + 8192, wall=60).reason for _ in range(60)}

    assert reasons == {"ok"}


def left(box: Sandbox) -> set[str]:
    """What programs of a sandbox of one slot have left on disk: each begins in an empty folder, as the tests see."""
    (slot,) = box._state.idle["python"]
    folder = slot._server.folder
    return set(os.listdir(f"{folder}/left")) if folder else set()


def test_the_limits_on_disk_hold_for_a_user_without_rights_too() -> None:
    sandbox_levels.need("landlock")
    chosen = {name: TAKE + WAYS[name] for name in WAYS if "chain" not in name and name != "folders"}
    code = f"""
import os, tempfile, time
from gem_sandbox import Sandbox
tempfile.tempdir = "/var/tmp"
with Sandbox(slots=1, level="landlock") as box:
    for name, program in {chosen!r}.items():
        result = box.run(program, disk={LIMIT}, output={MIB}, open_files=1000, timeout=20, memory=1 << 30)
        most = max(map(int, result.stdout.split()), default=0)
        if result.reason not in ("disk", "error") or most > {2 * LIMIT}:
            print(name, result.reason, most)
        if box.run("print(1)").stdout != "1\\n":
            print("after", name)
    folder, end = box._state.idle["python"][0]._server.folder, time.monotonic() + 60
    while os.listdir(folder + "/left") and time.monotonic() < end:
        time.sleep(0.01)
    print(os.listdir(folder + "/left"), folder[:9])
"""
    assert sandbox_levels.as_nobody(code) == "[] /var/tmp/\n"


@pytest.mark.parametrize("way", ["very long paths", "removed files", "room behind the end", "removed files in a child"])
def test_at_level_process_what_hides_is_found_when_it_is_looked_for(way: str) -> None:
    child = "if os.fork():\n    os.wait()\n"
    few = WAYS.get(way, child + WAYS["removed files"]).replace("range(300)", "range(12)")
    code = TAKE.replace("range(300)", "range(12)") + few + "\nimport time\ntime.sleep(60)"
    with sandbox_levels.box_at("process") as box:
        assert box.run(code, disk=LIMIT, timeout=20, processes=1).reason == "disk"


@pytest.mark.full
def test_without_isolation_a_program_that_ends_while_its_disk_is_counted_is_not_over_its_limit() -> None:
    code = """
import gem_sandbox
with gem_sandbox.Sandbox(slots=1, level="process") as box:
    spin = "import time\\nwhile time.process_time() < 0.03: pass"
    print({box.run(spin).reason for _ in range(60)})
"""

    assert sandbox_levels.as_nobody(code) == "{'ok'}\n"


def test_at_level_process_a_program_whose_threads_and_processes_end_while_its_disk_is_counted_goes_on() -> None:
    code = """
import os, threading, time

def fork():
    if os.fork() == 0:
        os._exit(0)

end = time.monotonic() + 0.7
while time.monotonic() < end:
    threads = [threading.Thread(target=fork) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for thread in threads:
        os.wait()
print("done")
"""
    with sandbox_levels.box_at("process") as box:
        for _ in range(2):
            assert box.run(code, processes=50).stdout == "done\n"
