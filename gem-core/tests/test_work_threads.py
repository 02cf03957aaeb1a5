"""Pools of daemon threads."""

import os
import subprocess
import sys
import threading
import time

import pytest

from gem.work.threads import Threads


def _named() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "gem-test"]


def test_results_come_in_the_order_of_the_rows_from_no_more_threads_than_allowed() -> None:
    threads, met = Threads("gem-test", 3), threading.Barrier(3)

    def add(one: int, other: int) -> int:
        if one < 3:
            met.wait(30)  # three at once
        return one + other

    assert threads.map(add, range(20), range(20)) == [2 * number for number in range(20)]
    assert len(_named()) == 3
    threads.close()
    assert not _named()
    with pytest.raises(RuntimeError, match="closed"):
        threads.submit(int)


@pytest.mark.parametrize("error", [LookupError, SystemExit, KeyboardInterrupt, StopIteration])
def test_an_exception_of_any_kind_is_an_outcome_and_the_thread_goes_on(error: type[BaseException]) -> None:
    def refuse() -> None:
        raise error

    threads = Threads("gem-test", 1)
    outcome = threads.submit(refuse).result()
    assert isinstance(outcome.error, error)
    assert threads.submit(lambda: 7).result().get() == 7
    threads.close()


@pytest.mark.parametrize("abandons", [True, False])
def test_work_goes_on_beside_a_call_that_hangs_only_if_its_thread_is_abandoned(abandons: bool) -> None:
    threads, begun, go_on = Threads("gem-test", 1), threading.Event(), threading.Event()

    def hang() -> threading.Thread:
        begun.set()
        go_on.wait()
        return threading.current_thread()

    hanging, waiting = threads.submit(hang), threads.submit(threading.current_thread)
    begun.wait()
    if abandons:
        threads.abandon(_named()[0])
        assert waiting.result().get() is not _named()[0] or hanging.done()
    assert waiting.done() is abandons
    go_on.set()
    left = hanging.result().get()
    assert (waiting.result().get() is left) is not abandons
    threads.close(time.monotonic() + 30)
    left.join(30)
    assert not _named()


def test_a_forked_child_has_threads_of_its_own_and_not_the_work_of_its_parent() -> None:
    threads, begun, go_on = Threads("gem-test", 1), threading.Event(), threading.Event()
    hanging = threads.submit(lambda: (begun.set(), go_on.wait()))
    begun.wait()
    waiting = threads.submit(os.getpid)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = int(threads.submit(os.getpid).result(30).get() != os.getpid() or waiting.done())
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go_on.set()
    hanging.result()
    assert waiting.result().get() == os.getpid()
    threads.close()


def test_a_call_that_hangs_does_not_keep_a_program_from_ending() -> None:
    program = "import time; from gem.work.threads import Threads; Threads('x').submit(lambda: time.sleep(3600))"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
