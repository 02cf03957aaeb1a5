"""gem-core's vector, for `vector.py`."""

from workloads import EPISODE, TEXT, TURNS, Window, in_rounds, speed, worker

import gem


class Work(gem.Env):
    """An env that does nothing but its work."""

    def __init__(self, kind, slot, rounds):
        self.work, self.turn = worker(kind, slot, rounds), 0

    def reset(self, *, seed=None, options=None):
        self.turn = 0
        return "", {}

    def step(self, action):
        self.work()
        self.turn += 1
        return gem.Step.cut_off("") if self.turn == EPISODE else gem.Step.ongoing("")

    def sample_action(self):
        return ""


def play(case):
    """The steps of `case`, counted."""
    backend, _, form = case["mode"].partition(" ")
    kind, num_envs = case["kind"], case["num_envs"]
    own = [{"kind": kind, "slot": slot, "rounds": case["rounds"]} for slot in range(num_envs)]
    with gem.make_vec("sides.ours:Work", num_envs, backend=backend, vec_kwargs=own) as envs:
        envs.reset(seed=0)
        if form == "barrier":
            return in_rounds(kind, envs.step, [""] * num_envs)
        window = Window(kind)
        window.start()
        envs.send(dict.fromkeys(range(num_envs), ""))
        while window.arrived(len(results := envs.recv())):
            envs.send({result.slot: "" for result in results})
        return window.counted


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
    with gem.make_vec(game or "sides.ours:Text", num_envs, backend=mode, wrappers=wrappers, env_kwargs=kwargs) as envs:
        envs.reset(seed=0)
        return speed(envs.step, num_envs)


def make(id):
    """One of our envs."""
    return gem.make(id)
