"""What a constant in the rewards does to REINFORCE and ReBN: Guess the Number, paid for losing too.

    python benchmarks/offsets.py --folder DIR [--seeds 8] [--json FILE]

REINFORCE multiplies the log-probability of every reply by its return, so a constant rewards whatever was said. ReBN
subtracts the mean return and divides by the deviation, so neither a constant nor a factor changes anything: its runs
with other rewards are the same, step by step, and are not repeated. Between the two are ReBN without its division, and
without its negative advantages.

All start from the same models as in `algorithms.py`, play the same number of episodes, and have the same learning rate
and no entropy bonus, whose weight would be relative to the size of the advantages. Differences are paired by seed.
Everything runs in one process with one thread, and can be stopped and resumed at any moment.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import algorithms
import numpy as np
from algorithms import GUESS, TASKS, Task, Trial, mean
from transformers.utils import logging

import gem
from gem import seeding
from gem.rollout import rollout
from gem_train.algorithms.base import Scores
from gem_train.algorithms.credit import Credit, compared, discounted_returns
from gem_train.algorithms.rebn import ReBN
from gem_train.batch import Batch
from gem_train.policies.checkpoint import checkpoint_policy
from gem_train.runs.compare import read_run

LR, GAMMA, ENTROPY = 8e-4, 1.0, 0.0
Rewards = tuple[float, float]
"""Of a lost episode, and of a won one."""
PLAIN = 0.0, 1.0
REWARDS: tuple[Rewards, ...] = ((-1.0, 1.0), PLAIN, (0.25, 1.25), (0.5, 1.5))
BETWEEN = ("offsets:Centred", "offsets:Positive")
Cell = tuple[Rewards, str]
"""Rewards, and an algorithm."""
CELLS: tuple[Cell, ...] = (
    *((rewards, "reinforce") for rewards in REWARDS),
    *((PLAIN, algorithm) for algorithm in ("rebn", *BETWEEN)),
)
PAIRS: tuple[tuple[Cell, Cell], ...] = (
    *(((PLAIN, "rebn"), (rewards, "reinforce")) for rewards in REWARDS),
    *(((PLAIN, one), (PLAIN, other)) for one in BETWEEN for other in ("reinforce", "rebn")),
)
"""What is subtracted from what."""


class Paid(gem.Wrapper):
    """A game with a reward at its end alone: one for losing, one for winning."""

    def __init__(self, env: gem.Env, *, lose: float, win: float) -> None:
        super().__init__(env)
        self.lose, self.win = lose, win

    def step(self, action: str) -> gem.Step:
        step = self.env.step(action)
        if not (step.terminated or step.truncated):
            return step._replace(reward=0.0)
        return step._replace(reward=self.win if step.info.get("success") else self.lose)


class Centred(ReBN):
    """``A_t = G_t - mean G``: ReBN without the division."""

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(self.rewards(batch, scores), batch.episode, self.settings.gamma)
        return Credit(returns, compared(returns, batch, np.zeros(len(batch.episodes.env), np.int64), deviation=False))


class Positive(ReBN):
    """``A_t = max(0, (G_t - mean G) / std G)``: ReBN without its negative advantages."""

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        credit = super().credit(batch, scores)
        return replace(credit, advantages=np.maximum(credit.advantages, 0))


class Found(NamedTuple):
    """What a run came to."""

    after: float
    training: float
    """The mean success of all training steps."""
    entropy: float
    """Nats per token, the mean of the last ten steps."""
    malformed: float
    """Percent of the replies of the last ten steps."""
    gradient: float
    """Its norm, the mean of the last ten steps."""
    greedy: float
    """Success after training, of the most likely replies."""


def run(cell: Cell, seed: int, folder: Path) -> Found:
    """Carry out a run, unless it has finished, and read what it came to."""
    (lose, win), algorithm = cell
    paid = [{"name": "offsets:Paid", "lose": lose, "win": win}]
    trial = Trial(f"paid {lose:g} and {win:g}", algorithm, GAMMA, seed, LR, ENTROPY)
    TASKS[trial.task] = Task(*GUESS, paid, "random", 250, 6, 50, 128)
    result = algorithms.run(trial, folder)
    points = read_run(trial.path(folder)).points
    entropy, malformed, gradient = (
        fmean(point.mean for point in points(name, "train")[-10:]) for name in ("entropy", "malformed", "grad_norm")
    )
    likely = greedy(trial.path(folder), seed)
    return Found(result.after, result.training, entropy, 100 * malformed, gradient, likely)


def greedy(out: Path, seed: int) -> float:
    """The success of the most likely replies of a run's model, on the seeds of its evaluations."""
    seeds = [seeding.derive(seed, "evaluation", index) for index in range(256)]
    id, settings = GUESS
    with (
        closing(checkpoint_policy(str(out), temperature=0)) as policy,
        gem.make_vec(id, 128, env_kwargs=settings) as envs,
    ):
        return fmean(episode.success for episode in rollout(policy, envs, seeds))


def tables(found: Mapping[Cell, Sequence[Found]]) -> str:
    """Both tables, as GitHub Markdown."""
    lines = [
        "| lost / won | algorithm | after | in training | nats per token | malformed, % | gradient | greedy |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for ((lose, win), algorithm), each in found.items():
        columns = " | ".join(map(mean, zip(*each, strict=True)))
        lines.append(f"| {lose:g} / {win:g} | `{algorithm}` | {columns} |")
    lines += ["", lines[0].replace("algorithm", "minus, paired by seed"), lines[1]]
    for one, other in PAIRS:
        lose, win = other[0]
        differences = zip(*(np.subtract(*pair) for pair in zip(found[one], found[other], strict=True)), strict=True)
        columns = " | ".join(mean(each, sign="+") for each in differences)
        lines.append(f"| {lose:g} / {win:g} | `{one[1]}` − `{other[1]}` | {columns} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--seeds", type=int, default=8, help="how many, counted from 0")
    parser.add_argument("--json", type=Path, help="write the results there, too")
    arguments = parser.parse_args()
    logging.disable_progress_bar()  # transformers would draw one for every checkpoint
    found = {cell: [run(cell, seed, arguments.folder) for seed in range(arguments.seeds)] for cell in CELLS}
    if arguments.json:
        rows: list[dict[str, Any]] = [
            {"rewards": rewards, "algorithm": algorithm, "seed": seed, **one._asdict()}
            for (rewards, algorithm), each in found.items()
            for seed, one in enumerate(each)
        ]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(tables(found))


if __name__ == "__main__":
    main()
