"""gymnasium's vectors, for `vector.py`."""

from functools import partial

import gymnasium
from workloads import TEXT, TURNS, in_rounds, speed, worker


class Work(gymnasium.Env):
    """An env that does nothing but its work; its spaces are the cheapest there are."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, kind, slot, rounds):
        self.work = worker(kind, slot, rounds)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        self.work()
        return 0, 0.0, False, False, {}


def play(case):
    """Seconds until the job of `case` is done."""
    num_envs = case["num_envs"]
    vector = gymnasium.vector.AsyncVectorEnv if case["mode"] == "async" else gymnasium.vector.SyncVectorEnv
    envs = vector([partial(Work, case["kind"], slot, case["rounds"]) for slot in range(num_envs)])
    envs.reset(seed=0)
    seconds = in_rounds(envs.step, [0] * num_envs, case["steps"])
    envs.close()
    return seconds


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
    same_step = gymnasium.vector.AutoresetMode.SAME_STEP
    envs = gymnasium.vector.SyncVectorEnv([Text] * num_envs, autoreset_mode=same_step)
    if wrapped:
        envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.reset(seed=0)
    return speed(envs.step, num_envs)
