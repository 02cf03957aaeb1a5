"""What goes wrong in one slot stays there: exceptions, hangs, workers that die."""

import math
import os
import signal
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from vector_backends import BACKENDS, MORTAL, PARALLEL, RAY, WALK, alone, episode_seed, needs_ray, vector, without_pid

from gem.core import Step
from gem.errors import ConfigError, SpecError, failure_of
from gem.vector import VectorEnv, VectorStep
from gem.work import process

pytestmark = pytest.mark.usefixtures("core_only")

LENGTH = 5


def row(step: VectorStep, index: int) -> Step:
    return without_pid(Step(*(column[index] for column in step)))


def play_beside(envs: VectorEnv, word: str) -> VectorStep:
    """Three slots continue while slot 1 gets `word` in its second turn; returns the step of that turn.

    Checks that slots 0 and 2 play as if nothing had happened, and slot 1 continues with its next episode.
    """
    envs.reset(seed=7)
    envs.step(["go 1"] * 3)
    faulty = envs.step(["go 2", word, "go 2"])
    after = [envs.step([f"go {turn}"] * 3) for turn in (3, 4)]
    for slot in (0, 2):
        whole = alone(episode_seed(7, slot, 0), [f"go {turn}" for turn in range(1, 5)], length=LENGTH)
        assert [row(step, slot) for step in (faulty, *after)] == [without_pid(step) for step in whole[2:]]
    second = alone(episode_seed(7, 1, 1), ["go 3", "go 4"], length=LENGTH)
    assert faulty.observations[1] == second[0].observation
    assert [row(step, 1) for step in after] == [without_pid(step) for step in second[1:]]
    return faulty


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("raise", "ZeroDivisionError: division by zero"),
        ("exit", "SystemExit: enough"),
        ("sulk", "LookupError: no advice today"),
    ],
)
def test_an_env_that_raises_fails_alone_and_its_slot_continues(backend: str, word: str, error: str) -> None:
    with vector(backend, length=LENGTH, info_methods=["expert_action"] if word == "sulk" else []) as envs:
        if word == "sulk":
            envs.reset(seed=7)
            faulty = envs.step(["go 1", word, "go 1"])
        else:
            faulty = play_beside(envs, word)

    assert_the_second_failed(faulty, error)
    assert "vector_envs.py" in faulty.infos[1]["failure"].traceback


# The slot, which is the same on every backend, compares a step with the contract.
@pytest.mark.parametrize("backend", ["sync", "thread", pytest.param("process", marks=pytest.mark.full), RAY])
@pytest.mark.parametrize(
    ("word", "error"),
    [
        ("both", "TypeError: the env violates the contract: its last step is both terminated and truncated"),
        ("mute", 'TypeError: the env violates the contract: its last step does not have info["success"]'),
        ("nothing", "AttributeError: 'NoneType' object has no attribute 'terminated'"),
    ],
)
def test_an_env_that_violates_the_contract_fails_alone_and_its_slot_continues(
    backend: str, word: str, error: str
) -> None:
    with vector(backend, length=LENGTH) as envs:
        faulty = play_beside(envs, word)

    assert_the_second_failed(faulty, error)
    assert "vector_envs.py" not in faulty.infos[1]["failure"].traceback


def assert_the_second_failed(step: VectorStep, error: str) -> None:
    assert math.isnan(step.rewards[1])
    assert step.truncated.tolist() == [False, True, False]
    assert not step.terminated.any()
    failure = step.infos[1]["failure"]
    assert failure.error == error
    assert "Traceback" in failure.traceback
    assert step.infos[1]["final_info"] == {"failure": failure}


@pytest.mark.parametrize("backend", MORTAL)
@pytest.mark.parametrize(("word", "error"), [("hand out a lambda", "lambda"), ("hand out a bomb", "ValueError: boom")])
def test_a_result_that_cannot_travel_is_a_failure_of_its_slot(backend: str, word: str, error: str) -> None:
    with vector(backend, length=LENGTH) as envs:
        faulty = play_beside(envs, word)

    assert error in faulty.infos[1]["failure"].error


@pytest.mark.parametrize("backend", MORTAL)
def test_an_env_that_takes_its_worker_with_it_fails_alone(backend: str) -> None:
    with vector(backend, length=LENGTH, num_workers=1) as envs:
        failure = play_beside(envs, "die").infos[1]["failure"]

    assert failure.error.startswith("WorkerLost: ")
    if backend == "process":
        assert failure.error.endswith("exited with status 3")


@pytest.mark.parametrize("backend", PARALLEL)
def test_an_env_that_hangs_is_ended_at_its_deadline_and_fails_alone(backend: str) -> None:
    with vector(
        backend, length=LENGTH, step_timeout=1.0, **({} if backend == "thread" else {"num_workers": 1})
    ) as envs:
        failure = play_beside(envs, "hang").infos[1]["failure"]

    assert failure.error == "TimeoutError: timed out after 1 s"
    if backend == "thread":
        assert "vector_envs.py" in failure.traceback


@needs_ray
@pytest.mark.full
@pytest.mark.usefixtures("local_ray")
def test_an_actor_that_starts_late_is_waited_for_whatever_the_deadline_of_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as impatient:
        impatient.setattr("gem.vector.backends.ray.CALL_TIMEOUT", 0.1)
        envs = vector("ray", length=LENGTH, num_workers=1, step_timeout=0.3)
    with envs:
        observations, _ = envs.reset(seed=7)

    assert observations == [alone(episode_seed(7, slot, 0), [])[0].observation for slot in range(3)]


@pytest.mark.full
@pytest.mark.parametrize("word", ["fork die", "fork hang"])
def test_a_process_that_an_env_has_forked_does_not_hide_the_end_of_its_worker(word: str) -> None:
    """It has a copy of the worker's connection, and in a session of its own it outlives the worker."""
    with vector("process", length=LENGTH, num_workers=1, step_timeout=1.0) as envs:
        failure = play_beside(envs, word).infos[1]["failure"]

    assert failure.error.startswith("WorkerLost: " if word == "fork die" else "TimeoutError: ")


def second_step(envs: VectorEnv, before: Callable[[int], None]) -> tuple[bool, VectorStep]:
    """Whether the worker was replaced in the second step, before which its process gets `before`; and that step."""
    envs.reset(seed=7)
    pid = envs.step(["go 1"] * 3).infos[0]["pid"]
    before(pid)
    steps = envs.step(["go 2"] * 3)
    for slot in range(3):
        whole = alone(episode_seed(7, slot, 0), ["go 1", "go 2"], length=LENGTH)
        assert row(steps, slot) == without_pid(whole[2])
    return steps.infos[0]["pid"] != pid, steps


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


@pytest.mark.parametrize("silence", [1e6, 0.5], ids=["stopped", "as if frozen"])
def test_a_worker_that_is_stopped_between_two_calls_is_replaced_and_its_envs_play_on(
    silence: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gem.vector.recovery.SILENCE", silence)
    if silence < 1:
        monkeypatch.setattr(process.WorkerProcess, "is_stopped", lambda self: False)
    with vector("process", length=LENGTH, num_workers=1, step_timeout=1.0) as envs:
        replaced, _ = second_step(envs, stop)

    assert replaced


def test_a_worker_that_is_stopped_within_a_call_is_replaced_and_that_call_is_overdue(tmp_path: Path) -> None:
    with vector("process", length=LENGTH, num_workers=1, step_timeout=1.0) as envs:
        envs.reset(seed=7)
        pid = envs.step(["go 1"] * 3).infos[0]["pid"]
        envs.send({0: "go 2", 1: f"await {tmp_path / 'never'}", 2: "go 2"})
        first = envs.recv(min_results=1)
        stop(pid)
        results = {result.slot: result for result in first + envs.recv(min_results=2)}

    assert results[1].failure is not None
    assert results[1].failure.error == "TimeoutError: timed out after 1 s"
    for slot in (0, 2):
        step = results[slot].step
        assert step is not None
        assert without_pid(step) == without_pid(alone(episode_seed(7, slot, 0), ["go 1", "go 2"], length=LENGTH)[2])


def test_a_worker_that_was_stopped_and_goes_on_is_kept() -> None:
    def stop_for_a_while(pid: int) -> None:
        stop(pid)
        os.kill(pid, signal.SIGCONT)

    with vector("process", length=LENGTH, num_workers=1, step_timeout=1.0) as envs:
        assert not second_step(envs, stop_for_a_while)[0]


class Slow:
    """Takes its time to be unpickled: the worker calls no env meanwhile."""

    def __reduce__(self) -> tuple[Callable[[float], None], tuple[float]]:
        return time.sleep, (1.5,)


def test_a_worker_that_is_slow_between_two_calls_is_kept() -> None:
    with vector("process", length=LENGTH, num_workers=1, step_timeout=0.5) as envs:
        envs.reset(seed=7)
        pid = envs.step(["go 1"] * 3).infos[0]["pid"]
        envs.reset(seed=7, options={"folder": Slow()})
        assert envs.step(["go 1"] * 3).infos[0]["pid"] == pid


def test_a_worker_whose_answers_nobody_has_received_for_long_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gem.vector.recovery.SILENCE", 0.1)
    with vector("process", length=LENGTH, num_workers=1, step_timeout=0.5) as envs:
        envs.reset(seed=7)
        pid = envs.step(["go 1"] * 3).infos[0]["pid"]
        envs.send(dict.fromkeys(range(3), "go 2"))
        time.sleep(1.5)
        envs.recv(min_results=3)
        assert envs.step(["go 3"] * 3).infos[0]["pid"] == pid


@pytest.mark.parametrize("backend", PARALLEL)
def test_an_interrupt_that_no_ctrl_c_has_brought_is_a_failure_like_any_other(backend: str) -> None:
    with vector(backend, length=LENGTH) as envs:
        envs.reset(seed=7)
        faulty = envs.step(["go", "interrupt", "go"])
        after = envs.step(["go"] * 3)

    assert faulty.infos[1]["failure"].error == "KeyboardInterrupt:"
    assert after.observations[1] == alone(episode_seed(7, 1, 1), [])[0].observation


@pytest.mark.full
@pytest.mark.parametrize("backend", PARALLEL)
def test_building_a_failed_env_anew_has_no_deadline_and_a_fault_in_closing_it_no_effect(
    backend: str, tmp_path: Path
) -> None:
    with vector(backend, 2, "vector_envs:Slow", folder=str(tmp_path), step_timeout=1.0) as envs:
        envs.reset(seed=7)
        (tmp_path / "slow").touch()
        faulty = envs.step(["raise", "go"])

    assert faulty.infos[0]["failure"].error == "ZeroDivisionError: division by zero"
    assert faulty.observations[0] == alone(episode_seed(7, 0, 1), [])[0].observation


def test_the_error_of_a_failure_is_one_line() -> None:
    assert failure_of(ValueError("two\n  lines")).error == "ValueError: two lines"


@pytest.mark.full
def test_workers_that_never_begin_are_given_up_each_for_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The first three processes end before they have started: one in the place of each worker.
    token = f"open('{tmp_path}/' + str(n), 'x')"
    program = textwrap.dedent(f"""
        import os, time
        for n in range(3):
            try:
                {token}
            except FileExistsError:
                continue
            while not os.path.exists('{tmp_path}/2'):  # the first ones of all three, and no replacement
                time.sleep(0.01)
            os._exit(6)
    """)
    monkeypatch.setattr(process, "_PROGRAM", program + process._PROGRAM)
    with vector("process", 3, num_workers=3) as envs:
        envs.reset(seed=7)
    monkeypatch.setattr(process, "_PROGRAM", "raise SystemExit(6)")
    with pytest.raises(RuntimeError, match="end before they have started"):
        vector("process", 1)


@pytest.mark.parametrize("backend", PARALLEL)
def test_the_deadline_is_each_envs_own_and_not_that_of_its_workers_queue(backend: str, tmp_path: Path) -> None:
    """Ten envs of one worker take a third of the limit each: together they are over it, alone none is."""
    with vector(backend, 10, num_workers=1, step_timeout=0.9, autoreset="off") as envs:
        envs.reset(seed=0)
        step = envs.step([f"await {tmp_path / str(slot)}" if slot == 99 else "nap 0.3" for slot in range(10)])

    assert [info for info in step.infos if "failure" in info] == []


@pytest.mark.parametrize("autoreset", ["off", "next_step"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_without_an_autoreset_at_once_a_failed_slot_has_no_observation_and_starts_anew(
    backend: str, autoreset: str
) -> None:
    with vector(backend, 2, autoreset=autoreset) as envs:
        envs.reset(seed=7)
        faulty = envs.step(["raise", "go"])
        if autoreset == "off":
            (observation,), _ = envs.reset(indices=[0])
        else:
            (observation,) = envs.step({0: "not played"}).observations

    assert faulty.observations[0] == ""
    assert faulty.infos[0].keys() == {"failure"}
    assert observation == alone(episode_seed(7, 0, 1), [])[0].observation


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_reset_that_fails_is_reported_each_time_and_ends_no_other_episode(backend: str) -> None:
    ids = [WALK, WALK]
    with vector(backend, 2, ids, vec_kwargs=[{}, {"broken": "reset"}]) as envs:
        observations, infos = envs.reset(seed=7)
        step = envs.step(["go", "go"])

    assert infos[1]["failure"].error == "OSError: the road is closed"
    assert step.infos[1]["failure"].error == "OSError: the road is closed"
    assert [observations[0], step.observations[0]] == [
        step.observation for step in alone(episode_seed(7, 0, 0), ["go"])
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_env_that_cannot_be_made_fails_its_episodes_and_no_others(backend: str) -> None:
    with vector(backend, 2, vec_kwargs=[{"broken": "make"}, {}]) as envs:
        observations, infos = envs.reset(seed=7)
        again = envs.step(["go", "go"])

    assert observations[1] == alone(episode_seed(7, 1, 0), [])[0].observation
    assert infos[0]["failure"].error == again.infos[0]["failure"].error == "OSError: no such device"


@pytest.mark.full
@pytest.mark.parametrize("backend", MORTAL)
def test_an_env_whose_making_takes_the_worker_with_it_fails_its_episodes_and_no_others(backend: str) -> None:
    with vector(backend, 3, vec_kwargs=[{}, {"broken": "exit in make"}, {}], num_workers=1) as envs:
        observations, infos = envs.reset(seed=7)
        step = envs.step({0: "go", 2: "go"})

    assert infos[1]["failure"].error.startswith("WorkerLost: ")
    for index, slot in enumerate((0, 2)):
        both = alone(episode_seed(7, slot, 0), ["go"])
        assert [observations[slot], step.observations[index]] == [step.observation for step in both]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("kwargs", "error", "reason"),
    [({"length": 0}, ConfigError, "length is at least 1"), ({"lenght": 3}, SpecError, "Did you mean 'length'")],
)
def test_settings_that_an_env_refuses_are_refused_where_the_vector_is_made(
    backend: str, kwargs: dict[str, int], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        vector(backend, 2, **kwargs)


@pytest.mark.parametrize("word", ["await", "go"])
def test_a_worker_that_is_killed_in_the_middle_of_a_batch_costs_at_most_the_episode_under_its_hands(
    word: str, tmp_path: Path
) -> None:
    """Slots 0, 1 and 2 are in one worker: when it dies, 0 has answered, 1 is at work, and 2 still waits."""
    with vector("process", length=LENGTH, num_workers=1) as envs:
        envs.reset(seed=7)
        pid = envs.step(["go 1"] * 3).infos[0]["pid"]
        if word == "await":
            envs.send({0: "go 2", 1: f"await {tmp_path / 'never'}", 2: "go 2"})
            first = envs.recv(min_results=1)
            os.kill(pid, signal.SIGKILL)
            results = {result.slot: result for result in first + envs.recv(min_results=2)}
        else:
            os.kill(pid, signal.SIGKILL)
            envs.send(dict.fromkeys(range(3), "go 2"))
            results = {result.slot: result for result in envs.recv(min_results=3)}
        after = envs.step(["go 3"] * 3)

    for slot in (0, 2) if word == "await" else (0, 1, 2):
        whole = alone(episode_seed(7, slot, 0), ["go 1", "go 2", "go 3"], length=LENGTH)
        assert results[slot].failure is None
        assert results[slot].step is not None
        assert without_pid(results[slot].step) == without_pid(whole[2])
        assert row(after, slot) == without_pid(whole[3])
    assert after.infos[0]["pid"] != pid
    if word == "await":
        assert results[1].failure is not None
        assert results[1].failure.error == "WorkerLost: the worker process of this env was ended by SIGKILL"


@pytest.mark.parametrize("backend", ["process"])
def test_hints_are_drawn_again_where_an_episode_is_brought_back(backend: str) -> None:
    """`sample_action` draws from a generator of its own, which must stand where it stood."""

    def actions(kill: bool) -> list[str]:
        with vector(backend, 1, info_methods=["sample_action"], length=9) as envs:
            _, infos = envs.reset(seed=3)
            actions: list[str] = []
            for turn in range(6):
                actions.append(infos[0]["sample_action"])
                step = envs.step([actions[-1]])
                if kill and turn == 2:
                    os.kill(step.infos[0]["pid"], signal.SIGKILL)
                infos = step.infos
            return actions

    assert actions(kill=True) == actions(kill=False)


def test_an_episode_that_cannot_be_brought_back_fails_with_its_next_action() -> None:
    with vector("process", 2, "vector_envs:Ungrateful", num_workers=1) as envs:
        envs.reset(seed=7)
        pid = envs.step(["go", "go"]).infos[0]["pid"]
        os.kill(pid, signal.SIGKILL)
        step = envs.step(["go", "go"])
        after = envs.step(["go", "go"])

    for info in step.infos:
        assert "the same actions from the same seed gave another observation" in info["failure"].error
    assert [info for info in after.infos if "failure" in info] == []


@pytest.mark.full
def test_a_worker_that_is_killed_again_and_again_is_replaced_again_and_again() -> None:
    with vector("process", 4, length=50) as envs:
        envs.reset(seed=7)
        played = [[], [], [], []]
        for turn in range(12):
            step = envs.step([f"go {turn}"] * 4)
            for slot in range(4):
                played[slot].append(row(step, slot))
            if turn % 3 == 0:
                os.kill(step.infos[turn % 4]["pid"], signal.SIGKILL)

    for slot in range(4):
        whole = alone(episode_seed(7, slot, 0), [f"go {turn}" for turn in range(12)], length=50)
        assert played[slot] == [without_pid(step) for step in whole[1:]]


@pytest.mark.parametrize("backend", PARALLEL)
def test_waiting_has_an_end_where_a_timeout_is_given(backend: str, tmp_path: Path) -> None:
    with vector(backend, 2) as envs:
        envs.reset(seed=7)
        envs.send({0: f"await {tmp_path / 'door'}"})
        assert envs.recv(timeout=0.01) == []
        (tmp_path / "door").touch()
        assert len(envs.recv()) == 1


def test_a_closed_wrapper_from_a_local_function_cannot_go_to_a_process_and_says_so() -> None:
    with pytest.raises(ConfigError, match='backend="thread"'):
        vector("process", 1, wrappers=[lambda env: env])
    with vector("process", 1) as envs, pytest.raises(ConfigError, match="options of a reset"):
        envs.reset(seed=0, options={"from": lambda: None})
