"""Pools of processes: deadlines, workers that die, forks, and what is left of them."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gem.work import fork_pool
from gem.work.fork_pool import ForkPool, LimitExceeded, WorkerLost, WorkersFailed

PATIENT = 60
"""For tasks that end: a busy machine must not matter."""


def made(workers=1, tasks=100, **environment):
    return ForkPool("work_program", workers=workers, tasks=tasks, environment=environment)


@pytest.fixture
def pool():
    pool = made()
    yield pool
    pool.close()


def exceeded(pool, task, seconds=0.1):
    with pytest.raises(LimitExceeded) as caught:
        pool.ask(task, seconds)
    return caught.value.limit, caught.value.told


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


def test_a_worker_keeps_its_process_until_it_has_had_its_number_of_tasks():
    pool = made(tasks=3, PLANTED="planted")
    places = [pool.ask("where", PATIENT) for _ in range(6)]
    pool.close()
    workers, [server], [variable] = [place[0] for place in places], *({place[at] for place in places} for at in (1, 2))
    assert workers[0] == workers[1] == workers[2] != workers[3] == workers[4] == workers[5]
    assert (variable, server in workers) == ("planted", False)


def test_a_task_past_its_limits_ends_its_worker_and_the_next_one_is_carried_out(pool):
    for _ in range(2):
        assert exceeded(pool, "loop") == ("time", ["begun"])
        assert pool.ask(7, PATIENT) == 7
    assert exceeded(pool, "memory", PATIENT) == ("memory", ["begun"])
    assert pool.ask([None, "text"], PATIENT) == [None, "text"]


def test_each_part_of_a_task_that_its_worker_tells_of_has_all_of_the_deadline(pool):
    assert pool.ask("two parts", 0.5) == "two parts"
    assert exceeded(pool, "two parts", 0.2) == ("time", ["begun"])


def test_without_another_worker_a_pool_has_none_for_the_next_task(pool, monkeypatch):
    with monkeypatch.context() as planted:
        planted.setattr(ForkPool, "_replaced", lambda self, worker: worker)
        exceeded(pool, "loop")
        with pytest.raises(WorkerLost):
            pool.ask(7, PATIENT)


def test_a_task_that_gets_no_processor_is_not_judged_by_its_deadline(pool, monkeypatch):
    monkeypatch.setattr(fork_pool, "OVERLOADED", 3)
    with pytest.raises(WorkersFailed, match="too busy"):
        pool.ask("sleep", 0.1)
    assert pool.ask(7, PATIENT) == 7


def test_a_task_that_ends_two_workers_is_a_fault_and_a_worker_or_server_that_was_killed_is_replaced(pool):
    assert pool.ask(7, PATIENT) == 7
    with pytest.raises(WorkerLost):
        pool.ask("die", PATIENT)
    os.kill(pool.ask("where", PATIENT)[0], signal.SIGKILL)
    assert pool.ask(7, PATIENT) == 7
    pool._server.kill()
    assert pool.ask(7, PATIENT) == 7


def test_a_program_that_does_not_work_or_does_not_exist_is_a_fault():
    with pytest.raises(WorkersFailed, match="work_program does not work: LookupError: not here"):
        made(PLANTED="broken").ask(7, PATIENT)
    with pytest.raises(WorkersFailed, match="ModuleNotFoundError"):
        ForkPool("no_such_program", workers=1, tasks=1).ask(7, PATIENT)


def test_tasks_of_threads_are_not_mixed_up_and_waiting_for_a_worker_does_not_count(pool):
    with ThreadPoolExecutor(8) as threads:
        stuck = [threads.submit(exceeded, pool, "loop") for _ in range(3)]
        wait_until(pool._idle.empty)
        assert list(threads.map(lambda number: pool.ask(number, 0.5), range(5))) == [0, 1, 2, 3, 4]
        assert [each.result() for each in stuck] == [("time", ["begun"])] * 3


def test_a_worker_that_has_answered_is_asked_again_before_another_is_forked():
    pool = made(workers=2)
    first = pool.ask("where", PATIENT)
    assert [pool.ask("where", PATIENT) for _ in range(3)] == [first] * 3
    pool.close()


def test_a_worker_ends_at_its_deadline_although_its_server_has_been_killed(pool):
    worker, server, _ = pool.ask("where", PATIENT)
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(exceeded, pool, "loop", 1)
        wait_until(pool._idle.empty)
        os.kill(server, signal.SIGKILL)
        assert asked.result() == ("time", ["begun"])
    wait_until(lambda: not alive(worker))


def test_a_forked_child_has_workers_of_its_own_and_leaves_its_parents_alone(pool):
    server = pool.ask("where", PATIENT)[1]
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, json.dumps([pool.ask("where", PATIENT)[1], exceeded(pool, "loop")[0]]).encode())
            pool.close()
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        other, limit = json.load(pipe)
    assert (other != server, limit) == (True, "time")
    assert pool.ask("where", PATIENT)[1] == server


ASKING = """
import os, sys, threading, time
from gem.work.fork_pool import ForkPool
pool = ForkPool("work_program", workers=2, tasks=9)
places = pool.ask("where", 60)[:2]
threading.Thread(target=pool.ask, args=("sleep", 600), daemon=True).start()
if os.fork() == 0:
    time.sleep(600 if sys.argv[1] == "killed" else 0)
    os._exit(0)
print(*places, flush=True)
time.sleep(600 if sys.argv[1] == "killed" else 0.2)
"""


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_nothing_is_left_of_a_process_that_is_killed_or_ends_in_the_middle_of_a_task_though_its_fork_lives(how):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    process = subprocess.Popen(
        [sys.executable, "-c", ASKING, how], stdout=subprocess.PIPE, text=True, env=environment, process_group=0
    )
    processes = [int(number) for number in process.stdout.readline().split()]
    if how == "killed":
        process.kill()
    process.wait()
    wait_until(lambda: not any(map(alive, processes)))
    if how == "killed":
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()


def test_closing_ends_all_processes_and_the_pool_can_be_used_again():
    pool = made(workers=2)
    processes = pool.ask("where", PATIENT)[:2]
    pool.close()
    pool.close()
    wait_until(lambda: not any(map(alive, processes)))
    assert pool.ask(7, PATIENT) == 7
    pool.close()
