"""Event loops in threads of their own."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from gem.work.loops import EventLoop


@pytest.fixture
def loop() -> Iterator[EventLoop]:
    made = EventLoop("gem-test")
    yield made
    made.close()


async def _double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def _forever(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


def _threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gem-test"]


def test_a_call_gives_what_the_coroutine_returns_or_raises(loop: EventLoop) -> None:
    async def refuse() -> None:
        raise LookupError("nothing here")

    assert loop.call(_double(21)) == 42
    with pytest.raises(LookupError, match="nothing here"):
        loop.call(refuse())
    assert [future.result() for future in [loop.submit(_double(each)) for each in range(5)]] == [0, 2, 4, 6, 8]
    assert len(_threads()) == 1


def test_a_loop_that_nobody_calls_has_no_thread(loop: EventLoop) -> None:
    assert not _threads()


def test_a_call_past_its_deadline_is_cancelled_and_others_go_on(loop: EventLoop) -> None:
    ended: list[str] = []
    with pytest.raises(TimeoutError):
        loop.call(_forever(ended), timeout=0.01)
    assert loop.call(_double(1)) == 2
    assert ended == ["cancelled"]


def test_a_coroutine_cannot_wait_for_its_own_loop(loop: EventLoop) -> None:
    async def waits() -> int:
        return loop.call(_double(1))

    with pytest.raises(RuntimeError, match="use await"):
        loop.call(waits())


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_ends_the_program_ends_only_itself(loop: EventLoop, error: type[BaseException]) -> None:
    async def ends() -> None:
        raise error

    with pytest.raises(error):
        loop.call(ends())
    assert loop.call(_double(2)) == 4


def test_close_cancels_what_runs_then_closes_what_belongs_to_the_loop_and_refuses_more(loop: EventLoop) -> None:
    ended: list[str] = []

    async def at_end() -> None:
        ended.append("closed")

    left = loop.submit(_forever(ended))
    loop.call(_double(1))
    loop.close(after=at_end)
    loop.close(after=at_end)
    assert ended == ["cancelled", "closed"]
    assert left.cancelled()
    assert not _threads()
    with pytest.raises(RuntimeError, match="closed"):
        loop.submit(_double(1))


def test_close_leaves_a_coroutine_that_blocks_the_loop(loop: EventLoop) -> None:
    begun, release = threading.Event(), threading.Event()

    async def block() -> None:
        begun.set()
        release.wait()

    loop.submit(block())
    begun.wait()
    loop.close(timeout=0.01)
    [thread] = _threads()
    release.set()
    thread.join()


def test_a_forked_child_has_a_loop_of_its_own(loop: EventLoop) -> None:
    loop.submit(_forever([]))
    loop.call(_double(1))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = loop.call(_double(21), timeout=30)
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    assert loop.call(_double(4)) == 8


def test_a_program_ends_while_a_coroutine_blocks_and_another_waits() -> None:
    program = """
import asyncio, time
from gem.work.loops import EventLoop
import gem.work.loops
gem.work.loops.EventLoop.close.__kwdefaults__["timeout"] = 0.1
blocked, waiting = EventLoop("blocked"), EventLoop("waiting")
async def block(): time.sleep(3600)
async def wait():
    try: await asyncio.sleep(3600)
    finally: print("cancelled", flush=True)
blocked.submit(block())
waiting.submit(wait())
waiting.call(asyncio.sleep(0))
print("end", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\ncancelled\n", "")


def test_a_loop_that_nobody_has_and_that_never_ran_is_collected() -> None:
    import weakref

    unused = weakref.ref(EventLoop("gem-test"))
    gc.collect()
    assert unused() is None
