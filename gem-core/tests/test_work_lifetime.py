"""Callbacks after a fork and at the end of the process."""

import os
import subprocess
import sys
import threading

from gem.work import lifetime


def test_the_end_of_a_program_calls_the_last_first_and_goes_on_after_one_that_raises() -> None:
    program = """
from gem.work.lifetime import at_exit
class Owner:
    def __init__(self, name): self.name = name; at_exit(self.close)
    def close(self): print(self.name)
first, second, gone = Owner("first"), Owner("second"), Owner("gone")
del gone
at_exit(lambda: 1 / 0)
at_exit(lambda: print("last"))
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["last", "second", "first"]
    assert "ZeroDivisionError" in done.stderr


def test_a_forked_child_calls_all_once_and_has_the_locks_that_a_fork_waits_for() -> None:
    called: list[int] = []
    lock = threading.RLock()
    lifetime.hold_during_fork(lock)
    lifetime.after_fork(lambda: called.append(os.getpid()))
    child = os.fork()
    if child == 0:
        os._exit(0 if called == [os.getpid()] and lock.acquire(blocking=False) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not called
    free: list[bool] = []

    def acquire() -> None:
        with lock:
            free.append(True)

    other = threading.Thread(target=acquire)
    other.start()
    other.join()
    assert free == [True]
