"""REINFORCE, ReBN, GRPO and PPO compared on the same terms: three tasks, two discounts, several seeds.

    python benchmarks/algorithms.py --folder DIR [--seeds 5] [--tasks NAME,…] [--gammas 0.9,1]
        [--json FILE] [--picture FILE] [--report]

All algorithms start from the same warm start (behaviour cloning, one model per environment and seed), play the same
number of episodes and make as many updates. The learning rate and the entropy bonus are chosen for each algorithm and
task by the success in the last ten steps of a seed that is not reported: first the learning rate, then, at the best
one, whether there is an entropy bonus. The chosen settings are used with both discounts.

Differences are paired by seed, with a t interval and an exact sign-flip test. (With 5 seeds the smallest p of that test
is 0.06; the interval is the sharper of the two.)

Everything runs in one process with one thread. A finished run in the folder is not repeated and a stopped one resumes,
so the benchmark can be stopped at any moment; `--report` prints the tables of the seeds that are complete by then.
"""

import argparse
import itertools
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from trials import imitated, mean, sign_flip, trained

import gem
from gem_train.runs.compare import Group, read_run

ALGORITHMS = ("reinforce", "rebn", "grpo", "ppo")
BASELINE = "rebn"
LRS = (3e-4, 8e-4, 2e-3)
ENTROPIES = (0.01, 0.0)
TUNING_SEED = 100
TUNING_GAMMA = 1.0
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
OWN: dict[str, dict[str, Any]] = {
    "grpo": {"rollout": {"group_size": 8}},
    "ppo": {"credit": {"critic": {"lr": 1e-3}}},
}
"""What only one algorithm has."""


class Sparse(gem.Wrapper):
    """Guess the Number with a reward of 1 for the number and 0 for all else, near misses too."""

    def step(self, action: str) -> gem.Step:
        step = self.env.step(action)
        return step._replace(reward=float(step.info.get("success", False)))


class Dense(Sparse):
    """Guess the Number with a reward for every turn.

    Half of it is for the number; the other half is shared among the guesses by how much each narrows down what the
    number can be, in bits. So a won game sums to 1, as in Mastermind and Wordle.
    """

    def step(self, action: str) -> gem.Step:
        before = self._possible()
        step = super().step(action)
        after = 1 if step.reward else self._possible()
        span = self.max_number - self.min_number + 1
        return step._replace(reward=0.5 * step.reward + 0.5 * math.log(before / after, span))

    def _possible(self) -> int:
        """How many numbers the answers so far allow."""
        low = max((guess + 1 for guess in self.guesses if guess < self.number), default=self.min_number)
        high = min((guess - 1 for guess in self.guesses if guess > self.number), default=self.max_number)
        return high - low + 1


@dataclass(frozen=True)
class Task:
    """An environment, its warm start, and the settings that every algorithm gets there."""

    id: str
    env: Mapping[str, Any]
    wrappers: str | list[dict[str, Any]]
    """By which the rewards of the environment are replaced."""
    teacher: str
    warmup: int
    """Updates of the warm start."""
    max_new_tokens: int
    steps: int
    episodes: int
    """In a step."""
    gammas: tuple[float, ...] = (0.9, 1.0)


GUESS = "game:GuessTheNumber-v0-easy", {"max_number": 7, "max_turns": 3}
"""Bisection always finds one of 7 numbers with 3 guesses."""

TASKS = {
    # With one turn nothing is discounted: runs with any gamma are the same to the last bit.
    "single-turn": Task("math:Arithmetic-v0-easy", {"digits": 1}, "", "expert", 400, 6, 40, 256, (1.0,)),
    "sparse": Task(*GUESS, "algorithms:Sparse", "random", 250, 6, 50, 128),
    "dense": Task(*GUESS, "algorithms:Dense", "random", 250, 6, 50, 128),
}


@dataclass(frozen=True, order=True)
class Trial:
    """One run."""

    task: str
    algorithm: str
    gamma: float
    seed: int
    lr: float
    entropy: float

    def path(self, folder: Path) -> Path:
        name = f"{self.algorithm}-g{self.gamma:g}-lr{self.lr:g}-e{self.entropy:g}-s{self.seed}"
        return folder / self.task / name


@dataclass(frozen=True)
class Result:
    """What a run came to."""

    before: float
    after: float
    training: float
    """The mean success of all training steps: how fast it learned."""
    late: float
    """That of the last ten steps."""
    turns: float
    """Of an episode, after training."""


Choice = dict[tuple[str, str], tuple[float, float]]
"""The learning rate and the entropy bonus, by task and algorithm."""
Cell = tuple[str, float, str]
"""A task, a discount and an algorithm."""
Results = Mapping[int, Result]
"""Of a cell, by seed."""


def warm_start(task: str, seed: int, folder: Path) -> Path:
    """A run folder with a model that has imitated the task's teacher; tasks of one game share it."""
    what = TASKS[task]
    out = folder / "warm" / f"{what.id.replace(':', '-')}-s{seed}"
    settings = {
        "id": what.id, "env": what.env, "model": "tiny", "seed": seed, "steps": what.warmup, "device": "cpu",
        "threads": 1, "data": {"policy": what.teacher}, "optim": {"loss": "all"}, "log": {"tensorboard": False},
        "eval_every": what.warmup, "checkpoint_every": what.warmup,
    }  # fmt: skip
    return imitated(settings, out)


def run(trial: Trial, folder: Path) -> Result:
    """Carry out a run, unless it has finished, and read its result."""
    out, what = trial.path(folder), TASKS[trial.task]
    settings = {
        "id": what.id, "env": what.env, "wrappers": what.wrappers, "algorithm": trial.algorithm,
        "seed": trial.seed, "steps": what.steps,
        "model": str(warm_start(trial.task, trial.seed, folder)), "device": "cpu", "threads": 1,
        "rollout": {
            "episodes": what.episodes, "num_envs": what.episodes, "max_new_tokens": what.max_new_tokens,
            "record": 0,
        },
        "credit": {"gamma": trial.gamma},
        "optim": {
            "lr": trial.lr, "lr_end": trial.lr / 10, "entropy": trial.entropy, "entropy_end": 0.0, "max_kl": 0.05,
            "minibatches": 8,
        },
        "eval": {"episodes": 256}, "watch": {"stop": False}, "checkpoint_every": what.steps,
        "log": {"tensorboard": False},
    }  # fmt: skip
    read = trained([settings, OWN.get(trial.algorithm, {})], out)
    result = Result(read.before, read.after, fmean(read.training), fmean(read.training[-10:]), read.turns_after)
    print(f"{out}: {result.before:.2f} -> {result.after:.2f}, {read.seconds:.0f} s", file=sys.stderr, flush=True)
    return result


def choose(task: str, algorithm: str, folder: Path) -> tuple[float, float]:
    """The learning rate and the entropy bonus of an algorithm on a task."""

    def late(setting: tuple[float, float]) -> float:
        return run(Trial(task, algorithm, TUNING_GAMMA, TUNING_SEED, *setting), folder).late

    lr, entropy = max(((lr, ENTROPIES[0]) for lr in LRS), key=late)
    return max(((lr, each) for each in (entropy, *ENTROPIES[1:])), key=late)


def cells(tasks: Sequence[str], gammas: Sequence[float]) -> Iterator[Cell]:
    for task in tasks:
        for gamma in TASKS[task].gammas:
            if gamma in gammas:
                yield from ((task, gamma, algorithm) for algorithm in ALGORITHMS)


def complete(wanted: Sequence[Cell], seeds: int, chosen: Choice, folder: Path) -> dict[Cell, list[Trial]]:
    """The finished runs of each cell, of the seeds that all algorithms have for its task and discount."""
    found: dict[Cell, list[Trial]] = {}
    for task, gamma in dict.fromkeys((task, gamma) for task, gamma, _ in wanted):
        own = {
            algorithm: [Trial(task, algorithm, gamma, seed, *chosen[task, algorithm]) for seed in range(seeds)]
            for algorithm in ALGORITHMS
        }
        done = [
            all((trial.path(folder) / "summary.json").exists() for trial in trials)
            for trials in zip(*own.values(), strict=True)
        ]
        if any(done):
            found |= {(task, gamma, name): list(itertools.compress(trials, done)) for name, trials in own.items()}
    return found


def paired(one: Results, other: Results, what: str) -> str:
    """The mean difference of two cells in a figure, over the seeds that both have, its 95% interval and its p."""
    differences = [getattr(one[seed], what) - getattr(other[seed], what) for seed in sorted(one.keys() & other.keys())]
    return f"{mean(differences, sign='+')} (p {sign_flip(differences):.2f})" if differences else ""


def tables(results: Mapping[Cell, Results], chosen: Choice) -> str:
    """All tables, as GitHub Markdown."""
    lines = [
        "| task | γ | algorithm | lr | entropy | seeds | before | after | after − before | in training | turns |",
        "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for (task, gamma, algorithm), each in results.items():
        lr, entropy = chosen[task, algorithm]
        before, after, training, turns = (
            [getattr(result, name) for result in each.values()] for name in ("before", "after", "training", "turns")
        )
        gain = [b - a for a, b in zip(before, after, strict=True)]
        lines.append(
            f"| {task} | {gamma:g} | `{algorithm}` | {lr:g} | {entropy:g} | {len(each)} | {fmean(before):.2f} "
            f"| {mean(after)} | {mean(gain, sign='+')} | {mean(training)} | {mean(turns)} |"
        )
    lines += [f"\nMinus `{BASELINE}`, paired by seed:\n", "| task | γ | algorithm | after | in training | turns |"]
    lines.append("|---|--:|---|--:|--:|--:|")
    for (task, gamma, algorithm), each in results.items():
        base = results[task, gamma, BASELINE]
        if algorithm != BASELINE:
            figures = (paired(each, base, name) for name in ("after", "training", "turns"))
            lines.append(f"| {task} | {gamma:g} | `{algorithm}` | {' | '.join(figures)} |")
    lines += ["\nγ = 0.9 minus γ = 1, paired by seed:\n", "| task | algorithm | after | in training | turns |"]
    lines.append("|---|---|--:|--:|--:|")
    for (task, gamma, algorithm), each in results.items():
        base = results.get((task, TUNING_GAMMA, algorithm))
        if gamma != TUNING_GAMMA and base:
            figures = (paired(each, base, name) for name in ("after", "training", "turns"))
            lines.append(f"| {task} | `{algorithm}` | {' | '.join(figures)} |")
    return "\n".join(lines)


def draw(trials: Mapping[Cell, Sequence[Trial]], folder: Path, picture: Path) -> None:
    """The learning curves: a panel for each task and discount, with means and 95% intervals over the seeds."""
    panels = list(dict.fromkeys((task, gamma) for task, gamma, _ in trials))
    figure = Figure(figsize=(2.5 * len(panels), 2.9), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for (task, gamma), axis in zip(panels, axes, strict=True):
        for algorithm, colour in zip(ALGORITHMS, COLOURS, strict=True):
            runs = tuple(read_run(trial.path(folder)) for trial in trials[task, gamma, algorithm])
            curve = Group(algorithm, runs).curve("success", window=5)
            steps = [point.step for point in curve]
            axis.plot(steps, [point.mean for point in curve], color=colour, linewidth=1.5, label=algorithm)
            if len(runs) > 2:
                low, high = ([getattr(point, name) for point in curve] for name in ("low", "high"))
                axis.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
        title = task if len(TASKS[task].gammas) == 1 else f"{task}, γ = {gamma:g}"
        axis.set(title=title, xlabel="step", ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("success (mean of 5 steps)")
    axes[0].legend(fontsize=8)
    figure.savefig(picture)  # pyright: ignore[reportUnknownMemberType]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--seeds", type=int, default=5, help="how many are reported, counted from 0")
    parser.add_argument("--tasks", default=",".join(TASKS), help="names, separated by commas")
    parser.add_argument("--gammas", default="0.9,1", help="separated by commas")
    parser.add_argument("--json", type=Path, help="write the results there, too")
    parser.add_argument("--picture", type=Path, help="draw the learning curves there, as .png or .svg")
    parser.add_argument("--report", action="store_true", help="run nothing more once every algorithm is tuned")
    arguments = parser.parse_args()
    tasks, folder = arguments.tasks.split(","), arguments.folder
    chosen: Choice = {(task, algorithm): choose(task, algorithm, folder) for task in tasks for algorithm in ALGORITHMS}
    wanted = list(cells(tasks, [float(gamma) for gamma in arguments.gammas.split(",")]))
    if not arguments.report:
        for seed in range(arguments.seeds):
            for task, gamma, algorithm in wanted:
                run(Trial(task, algorithm, gamma, seed, *chosen[task, algorithm]), folder)
    trials = complete(wanted, arguments.seeds, chosen, folder)
    results = {cell: {trial.seed: run(trial, folder) for trial in each} for cell, each in trials.items()}
    if arguments.json:
        rows = [{**vars(trial), **vars(results[cell][trial.seed])} for cell in trials for trial in trials[cell]]
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if arguments.picture:
        draw(trials, folder, arguments.picture)
    print(tables(results, chosen))


if __name__ == "__main__":
    main()
