"""gem-llm's vectors, for `vector.py`."""

from functools import partial

from workloads import EPISODE, TEXT, TURNS, in_rounds, speed, worker

import gem
from gem.core import Env
from gem.vector.async_vector_env import AsyncVectorEnv
from gem.vector.sync_vector_env import SyncVectorEnv
from gem.wrappers.episode_tracking_wrapper import EpisodeTrackingWrapper
from gem.wrappers.observation_wrapper import ObservationWrapper


class Work(Env):
    """An env that does nothing but its work."""

    def __init__(self, work):
        super().__init__()
        self.work = work

    def reset(self, seed=None):
        self.turn = 0
        return "", {}

    def step(self, action):
        self.work()
        self.turn += 1
        return "", 0.0, False, self.turn == EPISODE, {}


def play(case):
    """The steps of `case`, counted."""
    num_envs = case["num_envs"]
    vector = AsyncVectorEnv if case["mode"] == "async" else SyncVectorEnv
    works = [worker(case["kind"], slot, case["rounds"]) for slot in range(num_envs)]
    envs = vector([""] * num_envs, [partial(Work, work) for work in works])
    envs.reset(seed=0)
    return in_rounds(case["kind"], envs.step, [""] * num_envs)


class Text(Env):
    """An env that shows a text, and does nothing."""

    def reset(self, seed=None):
        super().reset(seed)
        self.turn = 0
        return TEXT, {}

    def step(self, action):
        self.turn += 1
        return TEXT, 0.0, False, self.turn == TURNS, {}


def quick(mode, num_envs, game, wrapped=False):
    """Steps per CPU-second."""
    if game:
        envs = gem.make_vec([game] * num_envs, async_mode=mode == "async")
    else:
        vector = AsyncVectorEnv if mode == "async" else SyncVectorEnv
        envs = vector([""] * num_envs, [_wrapped if wrapped else Text] * num_envs)
    envs.reset(seed=0)
    return speed(envs.step, num_envs)


def _wrapped():
    concat = ObservationWrapper(Text(), include_action=False, include_chat_template=False)
    return EpisodeTrackingWrapper(concat)


def make(id):
    """One of its envs."""
    return gem.make(id)
