"""The choice of tasks by learnability and dynamic sampling against uniform draws: sampled tokens until tasks are known.

    python benchmarks/task_choice.py --folder DIR [--seeds 5] [--json FILE]

A mixture has 64 tasks, each a word to say to a character. A tiny model (0.2 M weights) knows half of them; a quarter is
impossible, because what is asked does not determine the answer; a quarter can be learned, from a success of about 0.25.
Counted are the tokens that are sampled in training until success on that quarter, evaluated every five steps, is 0.8.
The control has 16 tasks that can be learned. Each arm begins from the same warm start by imitation and plays with the
same settings; differences are paired by seed, with a t interval of the logarithm of the ratio.

Everything runs in one thread. A finished run in the folder is not repeated and a stopped one resumes.
"""

import argparse
import itertools
import json
import math
import string
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from transformers.utils import logging

import gem
from gem.turn_env import TurnEnv
from gem_eval.results.intervals import mean_interval
from gem_train.config.training import load_config
from gem_train.runs.compare import read_run
from gem_train.runs.display import Display
from gem_train.sft.config import load_sft_config
from gem_train.sft.training import sft
from gem_train.train import train

WORDS = ("apple", "bread", "cloud", "drum", "eagle", "flute", "grape", "house")
TASKS = range(64)
KNOWN, IMPOSSIBLE, LEARNABLE = range(32), range(32, 48), range(48, 64)
NAMES = f"{string.ascii_letters}{string.digits}+-"
TARGET = 0.8
IMITATED = 2000
"""Updates of the imitation: with 600 the tasks that are known still failed at times, and kept half of the starts."""
EVERY = 5
CHUNK = 20
MOST = 400
"""Steps between evaluations, between looks at whether the target is reached, and of a run that does not reach it."""
MIXTURES = {"quarter": (TASKS, LEARNABLE), "alike": (LEARNABLE, LEARNABLE)}
"""Mixture → its tasks, and those on which success is evaluated."""
DYNAMIC: dict[str, Any] = {"rollout": {"dynamic_sampling": 3}}
LEARNABILITY: dict[str, Any] = {"tasks": {"sampler": "learnability", "half_life": 100}}
ARMS: dict[str, dict[str, Any]] = {
    "uniform": {},
    "dynamic": DYNAMIC,
    "learnability": LEARNABILITY,
    "both": LEARNABILITY | DYNAMIC,
}
COMPARED = {"quarter": ("uniform", "learnability", "both", "dynamic"), "alike": ("uniform", "learnability")}
"""Mixture → the arms that are compared in it."""


class Pairs(TurnEnv):
    """Say the word that belongs to a task. One turn: 1 for the right word.

    Args:
        tasks: numbers of the tasks, of which each episode draws one: `KNOWN`, `IMPOSSIBLE` or `LEARNABLE`.
    """

    def __init__(self, tasks: list[int]) -> None:
        super().__init__(max_turns=1)
        self.tasks = tasks

    def _reset(self, options: Mapping[str, Any]) -> str:
        self.task = self.rng.choice(self.tasks)
        self.word = f"{self.rng.randrange(10**6)}" if self.task in IMPOSSIBLE else WORDS[self.task % len(WORDS)]
        return NAMES[self.task]

    def _step(self, action: str) -> gem.Step:
        success = action.strip() == self.word
        return gem.Step.final("", float(success), success=success)

    def sample_action(self) -> str:
        """What the warm start imitates: the answer of a known task; otherwise any word, at times the right one."""
        drawn = self.action_rng.choice(WORDS)
        tells = self.task in KNOWN or (self.task in LEARNABLE and self.action_rng.random() < 0.25)
        return self.word if tells else drawn

    def expert_action(self) -> str:
        return self.word


def warm_start(seed: int, folder: Path) -> Path:
    """A run folder with a model that knows the tasks of `KNOWN`."""
    out = folder / "warm" / f"s{seed}"
    if not (out / "summary.json").exists():
        settings = {
            "id": "task_choice:Pairs", "env": {"tasks": list(TASKS)}, "model": "tiny",
            "seed": seed, "steps": IMITATED, "device": "cpu", "threads": 1, "data": {"policy": "random"},
            "optim": {"loss": "all"}, "log": {"tensorboard": False}, "eval_every": IMITATED,
            "checkpoint_every": IMITATED,
        }  # fmt: skip
        sft(load_sft_config([settings]), out, Display(silent=True))
    return out


def run(mixture: str, arm: str, seed: int, folder: Path) -> dict[str, Any]:
    """Carry out a run until the target or `MOST` steps, unless that is done; returns what it came to."""
    out = folder / mixture / f"{arm}-s{seed}"
    played, evaluated = MIXTURES[mixture]
    settings = {
        "mix": [{"id": "task_choice:Pairs", "env": {"tasks": [task]}} for task in played],
        "algorithm": "grpo", "seed": seed, "model": str(warm_start(seed, folder)),
        "device": "cpu", "threads": 1, "watch": {"stop": False}, "checkpoint_every": CHUNK,
        "log": {"tensorboard": False},
        "rollout": {"episodes": 64, "group_size": 4, "num_envs": 64, "max_new_tokens": 4, "record": 0},
        "optim": {"lr": 2.5e-4, "lr_end": 2.5e-4, "entropy": 0.01, "minibatches": 1},
        "eval": {
            "id": "task_choice:Pairs", "env": {"tasks": list(evaluated)}, "episodes": 256, "every": EVERY,
        },
    }  # fmt: skip
    found = result(out)
    while found is None or (math.isinf(found["tokens"]) and found["steps"] < MOST):
        steps = CHUNK * (1 + (found["steps"] // CHUNK if found else 0))
        train(load_config([settings, ARMS[arm], {"steps": steps}]), out, Display(silent=True))
        found = result(out)
    found = {"mixture": mixture, "arm": arm, "seed": seed, **found}
    print(json.dumps(found), file=sys.stderr, flush=True)
    return found


def result(out: Path) -> dict[str, Any] | None:
    """What a run has come to; None before its first evaluation after training began."""
    if not (out / "summary.json").exists():
        return None
    read = read_run(out)
    tokens = {0: 0.0}
    for point in read.points("tokens", "train"):
        tokens[point.step] = tokens[point.step - 1] + point.mean
    success = {point.step: point.mean for point in read.points("success", "eval")}
    curve = [round(success[step], 3) for step in sorted(success)]
    return {"steps": max(success), "tokens": reached(success, tokens), "success": curve}


def reached(success: Mapping[int, float], tokens: Mapping[int, float]) -> float:
    """The tokens at which success reached the target, by interpolation between evaluations; infinite if never."""
    steps = sorted(success)
    for before, after in itertools.pairwise(steps):
        if success[after] >= TARGET:
            part = (TARGET - success[before]) / (success[after] - success[before])
            return tokens[before] + part * (tokens[after] - tokens[before])
    return math.inf


def ratio(ours: list[float], base: list[float]) -> tuple[float, float, float]:
    """How many times fewer tokens: the geometric mean over the seeds, and its 95% interval."""
    if math.inf in (*ours, *base):  # a run that has not reached the target has no ratio
        return math.nan, math.nan, math.nan
    logs = [math.log(b / a) for a, b in zip(ours, base, strict=True)]
    return tuple(map(math.exp, (fmean(logs), *mean_interval(logs))))  # pyright: ignore[reportReturnType]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--seeds", type=int, default=5, help="how many, counted from 0")
    parser.add_argument("--json", type=Path, help="write the runs there, too")
    arguments = parser.parse_args()
    logging.disable_progress_bar()  # transformers would draw one for every checkpoint
    runs = [
        run(mixture, arm, seed, arguments.folder)
        for seed in range(arguments.seeds)
        for mixture, arms in COMPARED.items()
        for arm in arms
    ]
    print("| mixture | arm | tokens until 0.8, by seed | times fewer than uniform |\n|---|---|---|---|")
    for mixture, arms in COMPARED.items():
        tokens = {
            arm: [each["tokens"] for each in runs if (each["mixture"], each["arm"]) == (mixture, arm)] for arm in arms
        }
        for arm, each in tokens.items():
            middle, low, high = ratio(each, tokens["uniform"])
            fewer = "" if arm == "uniform" else f"{middle:.2f} ({low:.2f} to {high:.2f})"
            print(f"| {mixture} | `{arm}` | {', '.join(f'{count:,.0f}' for count in each)} | {fewer} |")
    if arguments.json:
        arguments.json.write_text(json.dumps(runs, indent=2) + "\n")


if __name__ == "__main__":
    main()
