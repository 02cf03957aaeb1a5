"""gem-core's vector, for `vector.py`."""

import time

from workloads import TEXT, TURNS, in_rounds, speed, worker

import gem


class Work(gem.Env):
    """An env that does nothing but its work."""

    def __init__(self, kind, slot, rounds):
        self.kind, self.slot, self.rounds = kind, slot, rounds

    def reset(self, *, seed=None, options=None):
        self.work = worker(self.kind, self.slot, self.rounds)
        return "", {}

    def step(self, action):
        self.work()
        return gem.Step("", 0.0, False, False, {})

    def sample_action(self):
        return ""


def play(case):
    """Seconds until the job of `case` is done."""
    backend, _, form = case["mode"].partition(" ")
    num_envs, steps = case["num_envs"], case["steps"]
    own = [{"kind": case["kind"], "slot": slot, "rounds": case["rounds"]} for slot in range(num_envs)]
    with gem.make_vec("sides.ours:Work", num_envs, backend=backend, vec_kwargs=own) as envs:
        envs.reset(seed=0)
        if form == "barrier":
            return in_rounds(envs.step, [""] * num_envs, steps)
        started = time.perf_counter()
        envs.send(dict.fromkeys(range(num_envs), ""))
        done = 0
        while done < steps:
            arrivals = envs.recv()
            done += len(arrivals)
            envs.send({arrival.slot: "" for arrival in arrivals})
        return time.perf_counter() - started


class Text(gem.TurnEnv):
    """An env that shows a text, and does nothing."""

    def _reset(self, options):
        return TEXT

    def _step(self, action):
        return gem.Step(TEXT, 0.0, False, False, {})

    def sample_action(self):
        return ""


def quick(mode, num_envs, game, wrapped=False):
    """Steps per CPU-second."""
    kwargs = {} if game else {"max_turns": TURNS}
    wrappers = "concat,episode_tracking" if wrapped else ()
    with gem.make_vec(game or "sides.ours:Text", num_envs, backend=mode, wrappers=wrappers, **kwargs) as envs:
        envs.reset(seed=0)
        return speed(envs.step, num_envs)


def make(id):
    """One of our envs."""
    return gem.make(id)
