"""gem-train's side of `grpo_step.py` and of `gpu.py`: the loop of `gemx train`, with GRPO."""

import tempfile
import time
from pathlib import Path

import torch
from sides.even import BATCH, GROUP, PROMPTS, RATE, TOKENS, reward

import gem
from gem_train.config.training import load_config
from gem_train.runs.display import Display
from gem_train.train import train


class Even(gem.TurnEnv):
    """A prompt, and a reward for the reply."""

    def _reset(self, options):
        return self.rng.choice(PROMPTS)

    def _step(self, action):
        return gem.Step.final("", reward(action), success=bool(reward(action)))

    def sample_action(self):
        return ""


class Clock(Display):
    """Notes when each step ended."""

    def __init__(self):
        super().__init__(quiet=True)
        self.ends, self.tokens, self.signals = [(time.perf_counter(), time.process_time())], [], []

    def stepped(self, step, steps, metrics):
        """The step has ended, its metrics are written."""
        self.ends.append((time.perf_counter(), time.process_time()))
        self.tokens.append(metrics["tokens"] / BATCH)
        self.signals.append(metrics["signal"])


def arithmetic(case):
    """On a CPU one thread in float32, on a GPU bfloat16 over weights in float32."""
    if case.get("device", "cpu") == "cpu":
        return {"device": "cpu", "threads": 1}
    return {"device": case["device"], "dtype": "bfloat16"}


def play(case):
    """Wall and CPU seconds of each step, and the mean ids of a reply."""
    settings = {
        "id": "sides.trl_ours:Even",
        "model": case["model"],
        "algorithm": "grpo",
        "steps": case["steps"],
        **arithmetic(case),
        "checkpoint_every": 10**6,
        "rollout": {"episodes": BATCH, "group_size": GROUP, "num_envs": BATCH, "max_new_tokens": TOKENS, "record": 0},
        "optim": {"lr": RATE, "minibatches": 1, "epochs": 1},
        "eval": {"episodes": 1},
        "watch": {"stop": False},
    }
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, Clock() as clock:
        train(load_config([settings]), Path(folder) / "run", clock)
    assert all(clock.signals), "a step without an update"
    return {"ends": clock.ends, "tokens": sum(clock.tokens) / len(clock.tokens)}
