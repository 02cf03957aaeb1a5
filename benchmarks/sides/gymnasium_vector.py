"""gymnasium's vectors, for `vector.py`."""

from functools import partial

import gymnasium
from workloads import EPISODE, TEXT, TURNS, in_rounds, speed, worker

SAME_STEP = gymnasium.vector.AutoresetMode.SAME_STEP


class Work(gymnasium.Env):
    """An env that does nothing but its work; its spaces are the cheapest there are."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, kind, slot, rounds):
        self.work = worker(kind, slot, rounds)

    def reset(self, *, seed=None, options=None):
        self.turn = 0
        return 0, {}

    def step(self, action):
        self.work()
        self.turn += 1
        return 0, 0.0, False, self.turn == EPISODE, {}


def play(case):
    """The steps of `case`, counted."""
    num_envs = case["num_envs"]
    vector = gymnasium.vector.AsyncVectorEnv if case["mode"] == "async" else gymnasium.vector.SyncVectorEnv
    works = [partial(Work, case["kind"], slot, case["rounds"]) for slot in range(num_envs)]
    envs = vector(works, autoreset_mode=SAME_STEP)
    envs.reset(seed=0)
    counted = in_rounds(case["kind"], envs.step, [0] * num_envs)
    envs.close()
    return counted


class Text(gymnasium.Env):
    """An env that shows a text, and does nothing."""

    observation_space = action_space = gymnasium.spaces.Text(max_length=100)

    def reset(self, *, seed=None, options=None):
        self.turn = 0
        return TEXT, {}

    def step(self, action):
        self.turn += 1
        return TEXT, 0.0, False, self.turn == TURNS, {}


def quick(mode, num_envs, game, wrapped=False):
    """Steps per CPU-second; gymnasium has no Guess the Number."""
    if game:
        return None
    envs = gymnasium.vector.SyncVectorEnv([Text] * num_envs, autoreset_mode=SAME_STEP)
    if wrapped:
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.reset(seed=0)
    return speed(envs.step, num_envs)
