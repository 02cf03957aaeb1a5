"""Processes and threads of one program: exactly as many as allowed, whichever process starts them."""

from collections.abc import Iterator

import pytest
import sandbox_levels

from gem_sandbox import Level, Sandbox, identity
from gem_sandbox.errors import SandboxUnavailable

GIB = 1 << 30

FORKS = """
import os, time
children = []
try:
    while len(children) < 500:
        children.append(os.fork())
        if children[-1] == 0:
            time.sleep(60)
            os._exit(0)
except BlockingIOError:
    pass
print(sum(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children))
"""
"""Forks until it cannot; prints how many of its children live."""

THREADS = """
import threading, time
try:
    while threading.active_count() < 500:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError:
    pass
print(threading.active_count() - 1)
"""

BOMB = """
import os, time
alive = os.open('alive', os.O_CREAT | os.O_APPEND | os.O_WRONLY)
first = os.getpid()
for _ in range(500):
    try:
        if os.fork() == 0:
            os.write(alive, b'x')
    except BlockingIOError:
        break
if os.getpid() != first:
    time.sleep(60)
    os._exit(0)
late = time.monotonic() + 10
while os.path.getsize('alive') < 12 and time.monotonic() < late:
    time.sleep(0.01)
time.sleep(0.1)
print(os.path.getsize('alive'))
"""
"""Every process forks until it cannot, and stays; prints how many there are beside the first, twelve or more."""


@pytest.fixture(scope="module", params=["bubblewrap", "unshare"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_levels.box_at(request.param) as box:
        yield box


def alive(box: Sandbox, code: str, **limits: int) -> int:
    """The number that `code` prints, which has memory for many threads."""
    result = box.run(code, memory=8 * GIB, **limits)
    assert result.reason == "ok", result
    return int(result.stdout)


@pytest.mark.parametrize("processes", [1, 5, 32, 100])
def test_as_many_children_live_as_asked_for_and_no_more(box: Sandbox, processes: int) -> None:
    assert alive(box, FORKS, processes=processes) == processes


@pytest.mark.parametrize("threads", [1, 200])
def test_the_limit_of_threads_adds_nothing_to_that_of_processes(box: Sandbox, threads: int) -> None:
    assert alive(box, FORKS, processes=5, threads=threads) == 5


def test_descendants_count_among_the_processes(box: Sandbox) -> None:
    assert alive(box, BOMB, processes=12) == 12


def test_a_program_with_processes_may_have_threads_in_their_place(box: Sandbox) -> None:
    assert alive(box, THREADS, processes=5) == 5


def test_threads_and_processes_are_counted_together(box: Sandbox) -> None:
    two = "import threading, time\n"
    two += "for _ in range(2): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"

    # Python 3.12 and later warn of a fork beside threads, which these may risk: their children only sleep.
    assert alive(box, f"{two}import warnings\nwarnings.simplefilter('ignore')\n{FORKS}", processes=6) == 4


def test_a_pool_of_threads_works_beside_processes(box: Sandbox) -> None:
    code = "import os\nfrom concurrent.futures import ThreadPoolExecutor\n"
    code += "if os.fork() == 0: os._exit(0)\nos.wait()\n"
    code += "with ThreadPoolExecutor(4) as pool: print(sum(pool.map(abs, range(-9, 0))))"

    assert box.run(code, processes=4).stdout == "45\n"


def test_children_that_ended_make_room_for_others(box: Sandbox) -> None:
    code = "import os\nfor _ in range(50):\n    if os.fork() == 0: os._exit(0)\n    os.wait()\nprint('all')"

    assert box.run(code, processes=1).stdout == "all\n"


def test_what_one_program_left_running_does_not_count_for_the_next(box: Sandbox) -> None:
    for _ in range(3):
        assert alive(box, FORKS, processes=7) == 7


def test_memory_is_limited_for_each_process(box: Sandbox) -> None:
    code = """
import os
for _ in range(3):
    if os.fork() == 0:
        kept, count = [], 0
        try:
            while True:
                kept.append(bytearray(1 << 20))
                count += 1
        except MemoryError:
            os._exit(count)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    counts = [int(line) for line in box.run(code, processes=3, memory=64 << 20).stdout.split()]

    assert len(counts) == 3
    assert all(50 < count <= 64 for count in counts)


@pytest.mark.parametrize("level", sandbox_levels.CONFINED)
@pytest.mark.parametrize("threads", [1, 5, 64])
def test_as_many_threads_live_as_asked_for_and_no_more(level: Level, threads: int) -> None:
    with sandbox_levels.box_at(level) as box:
        if level == "landlock" and identity.private_uid() is None:
            pytest.skip("level landlock counts the threads of a program as root only")
        assert alive(box, THREADS, threads=threads) == threads


@pytest.mark.parametrize("level", ["bubblewrap", "unshare"])
def test_they_are_counted_as_well_where_the_programs_are_of_our_own_user(level: Level) -> None:
    sandbox_levels.need(level)
    runs = [
        (FORKS, {"processes": 1}),
        (FORKS, {"processes": 5}),
        (THREADS, {"processes": 5}),
        (THREADS, {"threads": 5}),
    ]
    code = "from gem_sandbox import Sandbox\n"
    code += f"with Sandbox(slots=1, level={level!r}) as box:\n"
    code += f"    for code, limits in {runs!r}:\n"
    code += f"        print(box.run(code, memory={GIB}, **limits).stdout.strip())"

    assert sandbox_levels.as_nobody(code).split() == ["1", "5", "5", "5"]


def test_processes_need_namespaces() -> None:
    with sandbox_levels.box_at("landlock") as box:
        with pytest.raises(SandboxUnavailable, match="namespaces"):
            box.run("", processes=1)
        assert box.run("").reason == "ok"
