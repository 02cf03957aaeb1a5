"""The processes behind the grader: deadlines, faults, threads, forks, and what is left of them."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gem_envs_math.grading import GraderFailed, Rules, grade
from gem_envs_math.grading import pool as pools
from gem_envs_math.grading import worker as worker_program
from gem_envs_math.grading.pool import Pool, shared

ENDLESS = r"\int e^{e^{x^{x}}} \sin(x^{x^x}) dx"
RIGHT = Rules(seconds=60)
"""For right answers: a busy machine must not matter."""


def integral(number):
    """A right and a wrong answer that only math-verify can tell from each other."""
    return rf"\int_0^{{{number}}} 2x \, dx", str(number**2), str(number**2 + 1)


@pytest.fixture
def pool():
    """A pool of one worker. It shares the process that forks, which takes a second to start."""
    shared().start()
    pool = Pool(1)
    pool._forker = shared()._forker
    yield pool
    for *_, worker in pool._idle.queue:
        if worker is not None:
            worker.kill()


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_an_answer_that_takes_too_long_is_wrong_and_the_next_right_one_is_right():
    answer, gold, wrong = integral(3)
    assert grade(answer, gold, RIGHT) == (True, "math-verify")
    for _ in range(2):
        assert grade(ENDLESS, gold, Rules(seconds=0.2)) == (False, "deadline")
        assert grade(answer, gold, RIGHT) == (True, "math-verify")
        assert grade(answer, wrong, RIGHT) == (False, "math-verify")


def test_without_its_kill_a_pool_gives_the_next_answer_no_verdict(pool, monkeypatch):
    pool.compare("1", "1", tolerance=0, seconds=60)
    monkeypatch.setattr(Pool, "_replaced", lambda self, worker: worker)

    assert pool.compare(ENDLESS, "1", tolerance=0, seconds=0.2) == (False, "deadline")
    with pytest.raises(GraderFailed):
        pool.compare("1", "1", tolerance=0, seconds=0.2)


def test_answers_of_threads_and_coroutines_are_not_mixed_up():
    cases = [integral(number % 25 + 1) for number in range(16)]

    def verdicts(case):
        answer, gold, wrong = case
        return [grade(answer, each, RIGHT).right for each in (gold, wrong)]

    async def gathered():
        return await asyncio.gather(*(asyncio.to_thread(verdicts, case) for case in cases))

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(verdicts, cases)) == [[True, False]] * 16
    assert asyncio.run(gathered()) == [[True, False]] * 16


def test_a_worker_that_has_answered_comes_before_one_that_was_just_forked():
    shared().start()
    pool = Pool(2)
    pool._forker = shared()._forker
    warm, fresh = pool._fork(), pool._fork()
    warm.tasks = 1
    pool._idle.queue.clear()
    for worker in (warm, fresh):
        pool._put(worker)

    assert pool._idle.get()[-1] is warm
    assert pool._idle.get()[-1] is fresh
    for worker in (warm, fresh):
        worker.channel.close()


def test_waiting_for_a_worker_does_not_count(pool):
    pool.compare("1", "1", tolerance=0, seconds=60)
    # Together they take many times the deadline of the last.
    with ThreadPoolExecutor(4) as threads:
        stuck = [threads.submit(pool.compare, ENDLESS, "1", tolerance=0, seconds=0.4) for _ in range(3)]
        wait_until(pool._idle.empty)
        last = threads.submit(pool.compare, "1", "1", tolerance=0, seconds=0.4)
        assert [each.result() for each in stuck] == [(False, "deadline")] * 3
        assert last.result() == (True, "math-verify")


@pytest.mark.full
def test_math_verify_that_does_not_work_is_a_fault(monkeypatch):
    broken = "import sys; sys.modules['math_verify'] = None; " + pools._PROGRAM
    monkeypatch.setattr(pools, "_PROGRAM", broken)
    with pytest.raises(GraderFailed, match="math-verify does not work: "):
        Pool(1).compare("1", "1", tolerance=0, seconds=1)

    monkeypatch.setattr(pools, "_PROGRAM", "import os; os._exit(3)")
    with pytest.raises(GraderFailed, match="did not start"):
        Pool(1).compare("1", "1", tolerance=0, seconds=1)


@pytest.mark.full
def test_a_worker_that_dies_of_an_answer_is_a_fault_and_one_that_was_killed_is_replaced(monkeypatch):
    dies = (
        "import os; from gem_envs_math.grading import symbolic; symbolic.warm_up = symbolic.stretch = lambda: None; "
        "p = symbolic.parse; symbolic.parse = lambda text: os._exit(1) if text == 'die' else p(text); "
    )
    start, end = pools._PROGRAM.split("from gem_envs_math")
    monkeypatch.setattr(pools, "_PROGRAM", start + dies + "from gem_envs_math" + end)
    pool = Pool(1)
    assert pool.compare("1", "1", tolerance=0, seconds=60)[0]
    with pytest.raises(GraderFailed, match="ended twice"):
        pool.compare("die", "1", tolerance=0, seconds=60)
    assert pool.compare("1", "1", tolerance=0, seconds=60)[0]

    worker = pool._idle.queue[0][-1]
    os.kill(worker._process, signal.SIGKILL)
    assert pool.compare("1", "1", tolerance=0, seconds=60)[0]
    pool._forker._process.kill()
    assert pool.compare("1", "1", tolerance=0, seconds=60)[0]
    pool.close()


def test_the_kernel_ends_a_worker_only_when_nobody_waits_for_it_any_more(monkeypatch):
    """On a busy machine the pool waits longer than the deadline, and such a worker must live as long."""
    tasks, alarms, pool = [], [], Pool(1)
    monkeypatch.setattr(pools._Worker, "ask", lambda self, task: tasks.append(task) or (True, "number"))
    monkeypatch.setattr(pool, "_fork", lambda: pools._Worker(None, None))
    pool.compare("1", "1", tolerance=0, seconds=3)
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(worker_program.signal, "setitimer", lambda _, seconds: alarms.append(seconds))
    monkeypatch.setattr(worker_program, "_verdict", lambda *_: {"right": True, "rule": "number"})
    with ours, theirs:
        ours.sendall(json.dumps(tasks[0]).encode() + b"\n")
        ours.shutdown(socket.SHUT_WR)
        worker_program._serve(theirs)

    assert alarms[0] > pools._OVERLOADED * 3


@pytest.mark.full
def test_a_fork_has_a_pool_of_its_own_and_leaves_its_parents_alone():
    answer, gold, wrong = integral(4)
    assert grade(answer, gold, RIGHT).right
    before = shared()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            own = shared() is not before and not before._idle.empty()
            os.write(write, json.dumps([own, grade(answer, gold, RIGHT).right, grade(answer, wrong).right]).encode())
            shared().close()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        assert json.load(pipe) == [True, True, False]
    assert shared() is before
    assert grade(answer, gold, RIGHT).right


def test_nothing_is_left_when_the_process_is_killed_in_the_middle_of_an_answer():
    program = textwrap.dedent(
        rf"""
        import threading, time
        from gem_envs_math.grading import Rules, grade
        from gem_envs_math.grading.pool import shared
        pool = shared()
        pool.start()
        threading.Thread(target=grade, args=(r"{ENDLESS}", "1", Rules(seconds=600))).start()
        print(pool._forker._process.pid, flush=True)
        time.sleep(600)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    forker = int(process.stdout.readline())
    children = []
    wait_until(lambda: children.extend(children_of(forker)) or children)
    process.kill()
    process.wait()
    process.stdout.close()
    wait_until(lambda: not any(map(alive, [forker, *children])))


def children_of(process):
    """The processes that are children of one (Linux)."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(number) for number in found.stdout.split()]


@pytest.mark.full
def test_closing_ends_all_processes_and_the_pool_can_be_used_again():
    pool = Pool(2)
    pool.start()
    forker = pool._forker._process.pid
    threads = threading.active_count()
    pool.close()
    pool.close()
    wait_until(lambda: not alive(forker))
    assert threading.active_count() == threads
