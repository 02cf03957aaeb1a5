"""A busy machine: what waits for a processor is not ended as if it slept."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import sandbox_levels

from gem_sandbox import Sandbox, SandboxLost, slot
from gem_sandbox.waiting import Waiting

HOGS = 6
COMPUTE = "import time\nwhile time.thread_time() < 0.3: pass\nprint('done')"
THREADS = """
import threading, time
def compute():
    start = time.thread_time()
    while time.thread_time() - start < 0.1: pass
threads = [threading.Thread(target=compute) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""


@pytest.fixture(scope="module", params=["unshare", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox whose programs share a processor with programs that compute."""
    anywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(anywhere)})
    hogs: list[subprocess.Popen[bytes]] = []
    try:
        with sandbox_levels.box_at(request.param, slots=1) as box:
            box.run("")
            # Linux may share a processor between sessions first (sched(7), autogroups), and the sandbox has its own.
            busy = [sys.executable, "-c", "while True: pass"]
            hogs += [subprocess.Popen(busy, start_new_session=True) for _ in range(HOGS)]
            yield box
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
        os.sched_setaffinity(0, anywhere)


@pytest.mark.parametrize("code", [COMPUTE, THREADS], ids=["alone", "in threads"])
def test_a_program_that_waits_for_a_processor_runs_to_its_end(box: Sandbox, code: str) -> None:
    result = box.run(code, timeout=2, wall=0.7)

    assert (result.reason, result.stdout) == ("ok", "done\n")


def test_it_is_ended_where_nobody_looks_at_what_it_waits_for(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "look", lambda process: Waiting())

    assert box.run(COMPUTE, timeout=2, wall=0.7).reason == "timeout"


@pytest.mark.parametrize("begin", ["", "while time.thread_time() < 0.1: pass\n"], ids=["at once", "later"])
def test_a_program_that_sleeps_is_ended(box: Sandbox, begin: str) -> None:
    code = f"import time\n{begin}while True: time.sleep(0.05)"

    assert box.run(code, timeout=2, wall=0.7).reason == "timeout"


def test_a_machine_that_is_too_busy_is_no_verdict(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "PATIENCE", 0.1)

    with pytest.raises(SandboxLost, match="too busy"):
        box.run_tests(COMPUTE, [("", "done")], timeout=2, wall=0.7)
    assert box.run("print('next')").stdout == "next\n"


def test_what_a_program_waits_for_itself_is_not_waiting_for_others() -> None:
    threads, cpu = 30, 1.0
    waited = (threads - 1) * cpu  # on one processor, each time one computes all others wait

    assert Waiting(waited, True, threads).for_others(cpu) <= 0
    assert Waiting(waited + 400, True, threads).for_others(cpu) > 300
    assert Waiting(14.5, True, 1).for_others(1.0) == 13.5
