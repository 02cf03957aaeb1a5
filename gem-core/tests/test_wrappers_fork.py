"""Forks: copies in the middle of an episode, of envs, of stacks, and of envs that hold more than attributes."""

import copy
import inspect
import json
import pickle
import subprocess
import sys

import pytest
from sample_envs import Closable, Counted, Loud, Sum

import gem
from gem.core import Env, Step, Wrapper
from gem.errors import SnapshotError
from gem.turn_env import TurnEnv

COUNTER = """
import json, sys
total = 0
for line in sys.stdin:
    add = json.loads(line)
    total = add["to"] if "to" in add else total + add["by"]
    print(total, flush=True)
"""


class Served(TurnEnv):
    """Adds up the lengths of the actions, in a process of its own."""

    def __init__(self, start: int = 0) -> None:
        super().__init__()
        self.start = start
        self.server = subprocess.Popen(
            [sys.executable, "-c", COUNTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **message: int) -> int:
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def _reset(self, options):
        return f"The total is {self.ask(to=self.start)}."

    def _step(self, action):
        return Step.ongoing(f"The total is {self.ask(by=len(action))}.")

    def sample_action(self):
        return "a" * self.action_rng.randint(1, 9)

    def snapshot(self):
        return pickle.dumps((self.ask(by=0), self.turn, self._over, self._rng, self._action_rng, self._seed))

    def restore(self, state):
        total, self.turn, self._over, self._rng, self._action_rng, self._seed = pickle.loads(state)
        self.ask(to=total)

    def close(self):
        self.server.communicate()


class Scaled(Wrapper):
    """Multiplies rewards by what a function says: a wrapper with a part that does not pickle."""

    _unsaved = Wrapper._unsaved | {"scale"}

    def __init__(self, env, scale):
        super().__init__(env)
        self.scale = scale
        self.total = 0.0

    def step(self, action):
        step = super().step(action)
        self.total += self.scale(step.reward)
        return step._replace(reward=self.total)


class Unstartable(Env):
    """Takes no arguments, and has no constructor that says so."""

    reset = step = sample_action = None


def future(env: Env, turns: int = 6) -> list[object]:
    seen: list[object] = []
    for turn in range(turns):
        action = env.sample_action() if turn % 2 else env.expert_action()
        seen += [action, env.step(action)]
        if seen[-1].done:
            break
    return seen


def stack() -> Env:
    return Scaled(Loud(Counted(Sum(rounds=6, largest=10**6))), lambda reward: 2 * reward)


@pytest.mark.parametrize("build", [lambda: Sum(rounds=6, largest=10**6, max_turns=20), stack])
@pytest.mark.parametrize("turns", [0, 3])
def test_forks_have_the_same_future_as_the_env_they_come_from(build, turns: int) -> None:
    env = build()
    env.reset(seed=3)
    for _ in range(turns):
        env.step(env.expert_action())
    env.sample_action()

    forks = env.fork(3)

    expected = future(env)
    assert [future(fork) for fork in forks] == [expected] * 3
    assert [fork.reset() for fork in forks] == [env.reset()] * 3
    assert all(type(fork) is type(env) for fork in forks)


@pytest.mark.parametrize("build", [lambda: Sum(rounds=6, largest=10**6), stack])
def test_what_one_fork_does_changes_no_other(build) -> None:
    env = build()
    env.reset(seed=3)
    (reference,) = env.fork(1)
    busy, idle = env.fork(2)

    busy.reset(seed=99)
    busy.sample_action()
    future(busy)

    expected = future(reference)
    assert future(idle) == expected
    assert future(env) == expected


def test_forks_of_a_finished_and_of_a_never_started_env_are_so_too() -> None:
    fresh, finished = Sum(), Sum()
    finished.reset(seed=0)
    finished.step("no box")

    with pytest.raises(gem.errors.ResetNeeded):
        fresh.fork(1)[0].step("\\boxed{1}")
    with pytest.raises(gem.errors.EpisodeOver):
        finished.fork(1)[0].step("\\boxed{1}")


def test_a_fork_of_a_fork_is_a_fork() -> None:
    env = stack()
    env.reset(seed=1)
    env.step(env.expert_action())
    (child,) = env.fork(1)
    (grandchild,) = child.fork(1)

    expected = future(env)
    assert [future(child), future(grandchild)] == [expected] * 2


def test_forks_keep_the_spec_and_the_arguments() -> None:
    env = gem.make("sample_envs:Sum", rounds=5, largest=7, wrappers=[Loud])
    env.reset(seed=0)
    (fork,) = env.fork(1)

    assert fork.spec == env.spec
    assert (fork.rounds, fork.largest) == (5, 7)


def test_each_fork_of_an_env_with_a_process_has_a_process_of_its_own() -> None:
    with gem.make("test_wrappers_fork:Served", start=100, wrappers=[Counted]) as env:
        env.reset(seed=0)
        env.step("abc")
        left, right = env.fork(2)
        with left, right:
            servers = {each.server.pid for each in (env, left, right)}
            assert len(servers) == 3
            assert left.spec == right.spec == env.spec

            assert left.step("a").observation == "3: The total is 104."
            assert right.step("abcdef").observation == "3: The total is 109."
            assert env.step("").observation == "3: The total is 103."
            assert left.sample_action() == right.sample_action() == env.sample_action()


def test_a_wrapper_whose_inner_env_was_exchanged_is_not_forked_into_something_else() -> None:
    env = Counted(Sum())
    env.env = Loud(env.env)
    env.reset(seed=0)

    with pytest.raises(SnapshotError, match=r"Loud.*Sum"):
        env.fork(1)


def test_copies_that_cannot_be_brought_to_the_envs_state_are_closed() -> None:
    built: list[Closable] = []

    class Proud(Closable):
        def __init__(self) -> None:
            super().__init__()
            built.append(self)

        def restore(self, state: bytes) -> None:
            raise SnapshotError("it goes its own way")

    env = Proud()
    env.reset(seed=0)
    with pytest.raises(SnapshotError, match="own way"):
        env.fork(3)

    assert [each.closed for each in built] == [False, True, True, True]


def test_functions_are_left_out_of_a_snapshot_and_survive_a_restore() -> None:
    env = stack()
    other = Scaled(Loud(Counted(Sum(rounds=6, largest=10**6))), lambda reward: 10 * reward)
    env.reset(seed=0)
    env.step(env.expert_action())

    other.restore(env.snapshot())

    assert env.step(env.expert_action()).reward == 4.0
    assert other.step(other.expert_action()).reward == 12.0


def test_a_restore_forgets_attributes_that_the_snapshot_lacks() -> None:
    env, same = Sum(), Sum()
    state = env.snapshot()
    env.stray = 1
    env.restore(state)

    assert vars(env).keys() == vars(same).keys()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copied_or_pickled_stack_can_be_forked(duplicate) -> None:
    env = Loud(Counted(Sum(rounds=6, largest=10**6)))
    env.reset(seed=2)
    env.step(env.expert_action())
    (fork,) = duplicate(env).fork(1)

    assert future(fork) == future(env)


def test_a_deep_copy_shares_nothing() -> None:
    env = stack()
    env.reset(seed=2)
    (reference,) = env.fork(1)
    future(copy.deepcopy(env))

    assert future(env) == future(reference)


def test_constructors_say_what_they_take() -> None:
    assert list(inspect.signature(Sum).parameters) == ["rounds", "largest", "max_turns"]
    assert list(inspect.signature(Counted).parameters) == ["env"]
    assert not inspect.signature(Unstartable).parameters
    with pytest.raises(gem.errors.SpecError, match="no argument 'colour'"):
        gem.make("test_wrappers_fork:Unstartable", colour="red")
