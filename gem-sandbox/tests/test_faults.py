"""`kill -9` at any moment: the lost run says so, the next one works, and nothing is left of either."""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import sandbox_levels
import sandbox_processes
from sandbox_processes import eventually, ours

from gem_sandbox import Sandbox, slot
from gem_sandbox.levels import Level

LEVELS = (*sandbox_levels.CONFINED, "process")
SET_CHILD_SUBREAPER = 36
BUSY = "import time\nend = time.monotonic() + 0.02\nwhile time.monotonic() < end:\n    pass\nprint(input())"


@pytest.fixture(params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    sandbox_processes.leave_out_those_of_others()
    with sandbox_levels.box_at(request.param) as box:
        box.run("")
        yield box


@pytest.fixture
def _orphans_come_to_us() -> Iterator[None]:
    """Whoever loses its parent below this process becomes a child of it."""
    libc = ctypes.CDLL(None)
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    libc.prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def end(pids: list[int], number: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.mark.parametrize("which", ["outermost", "innermost"])
def test_whenever_a_server_is_killed_its_run_says_so_and_the_next_one_works(box: Sandbox, which: str) -> None:
    generator = random.Random(which)
    lost = 0
    for number in range(6):
        servers = ours()
        victim = servers[0] if which == "outermost" else servers[-1]
        timer = threading.Timer(generator.uniform(0, 0.04), end, [[victim]])
        timer.start()
        struck = [box.run(BUSY, stdin=str(number)) for _ in range(3)]
        timer.join()
        after = box.run(BUSY, stdin=str(number))

        assert {result.reason for result in struck} <= {"ok", "sandbox_error"}
        assert {result.stdout for result in [*struck, after] if result.ok} == {f"{number}\n"}
        assert after.ok
        lost += sum(not result.ok for result in struck)
        assert eventually(lambda: len(ours()) <= len(servers))  # noqa: B023

    assert lost > 0


def test_a_verdict_survives_the_loss_of_a_server(box: Sandbox) -> None:
    servers = ours()
    threading.Timer(0.1, end, [servers]).start()

    verdict = box.run_tests("import time\ntime.sleep(0.05)\nprint(input())", [(str(n), str(n)) for n in range(10)])

    assert verdict.passed


def test_a_server_that_stops_answering_is_given_up(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "GRACE", 0.5)
    servers = ours()
    end(servers, signal.SIGSTOP)

    results = [box.run("print(1)", wall=wall) for wall in (0.5, 60)]

    assert [result.reason for result in results] == ["sandbox_error", "ok"]
    assert not set(servers) & set(ours())


@pytest.mark.usefixtures("_orphans_come_to_us")
@pytest.mark.parametrize("level", LEVELS)
def test_whenever_the_supervisor_is_killed_it_leaves_no_process_and_no_file(level: Level) -> None:
    sandbox_levels.need(level)
    temporary = Path(tempfile.mkdtemp())
    temporary.chmod(0o1777)  # as /tmp: servers may have a user of their own, and clear up after the supervisor
    code = (
        "import warnings; warnings.simplefilter('ignore')\nfrom gem_sandbox import Sandbox\n"
        f"print('ready', flush=True)\nbox = Sandbox(slots=2, level={level!r})\n"
        'while True: box.run_many([\'open("a", "w").write("x")\\nwhile True: pass\'] * 2)'
    )
    before = set(ours())
    for delay in (0.0, 0.05, 0.2, 0.6):
        supervisor = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ | {"TMPDIR": str(temporary)}
        )
        assert supervisor.stdout is not None
        with supervisor.stdout:
            supervisor.stdout.readline()
        time.sleep(delay)
        supervisor.kill()
        supervisor.wait()

    def gone() -> bool:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        return set(ours()) <= before

    assert eventually(gone)
    # Folders without a file may be there: a supervisor that had just made one had no server yet to remove it.
    assert [path for path in temporary.glob("gem-sandbox-*/**/*") if path.is_file()] == []
    shutil.rmtree(temporary)
