"""What playing while learning brings where tools are slow: episodes per second with `rollout.max_lag`, and without.

    python benchmarks/async_play.py [--steps 16] [--seeds 1] [--max-lag 2] [--seconds 10] [--scale 20] [--json FILE]

A tiny model learns to guess a number, and a tool answers each of its turns after 0 to 10 seconds, drawn evenly by seed
and turn; here these are divided by 20. Both runs are a whole `gemx train` from the model after one warm-up, in this
process, in turns. Success is measured without the latency.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from peers import show

from gem import seeding
from gem.core import Wrapper
from gem_eval.results.intervals import wilson_interval
from gem_train.config.training import TINY, load_config
from gem_train.runs.display import Display
from gem_train.train import train

ID = "game:GuessTheNumber-v0-easy"
EPISODES = 64
EVALUATED = 256


class SlowTool(Wrapper):
    """Waits in every step, up to so many seconds."""

    def __init__(self, env, *, seconds):
        super().__init__(env)
        self.seconds = seconds
        self.waits = None

    def reset(self, *, seed=None, options=None):
        self.waits = random.Random(seeding.derive(seed or 0, "waits"))
        return super().reset(seed=seed, options=options)

    def step(self, action):
        time.sleep(self.waits.uniform(0, self.seconds))
        return super().step(action)


def config(steps, **settings):
    """The settings of a run; the later ones go over the earlier ones."""
    rollout = {"episodes": EPISODES, "num_envs": 2 * EPISODES, "max_new_tokens": 16, "record": 0}
    base = {
        "id": ID,
        "steps": steps,
        "eval": {"episodes": EVALUATED},
        "watch": {"stop": False},
        "checkpoint_every": 10**6,
    }
    return load_config([TINY, {**base, "rollout": rollout}, settings])


def warm_up(folder, steps):
    """The folder of a model that plays well-formed guesses."""
    with Display(quiet=True) as display:
        train(config(1, warmup={"steps": steps}, checkpoint_every=1, eval={"episodes": 8}), folder, display)
    return folder / "checkpoint" / "step-1" / "model"


def run(folder, model, steps, max_lag, seconds, seed):
    """The metrics of the steps of one run, and its summary."""
    settings = config(
        steps,
        seed=seed,
        model=str(model),
        warmup={"steps": 0},
        wrappers=[{"name": "async_play:SlowTool", "seconds": seconds}],
        eval={"wrappers": []},
        rollout={"backend": "thread", "max_lag": max_lag},
    )
    with Display(quiet=True) as display:
        summary = train(settings, folder, display).as_json()
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["phase"] == "train"], summary


def together(max_lag, runs):
    """What several runs show together: their speed, their lag, and success after them."""
    made = [line for lines, _ in runs for line in lines]
    spent = {doing: sum(line[f"seconds_{doing}"] for line in made) for doing in ("play", "learn", "sync")}
    lags = Counter()
    for line in made:
        counted = {int(name[4:]): count for name, count in line.items() if name.startswith("lag/")}
        lags.update(counted or {0: EPISODES})
    succeeded = round(sum(summary["after"]["success"] for _, summary in runs) * EVALUATED)
    return {
        "max_lag": max_lag,
        "episodes_per_second": EPISODES * len(made) / sum(spent.values()),
        "seconds": spent,
        "lag": {lag: lags[lag] for lag in sorted(lags)},
        "lag_mean": sum(line["lag"] for line in made) / len(made),
        "lag_max": max(line["lag_max"] for line in made),
        "before": sum(summary["before"]["success"] for _, summary in runs) / len(runs),
        "success": succeeded / (EVALUATED * len(runs)),
        "interval": wilson_interval(succeeded, EVALUATED * len(runs)),
    }


def table(report):
    """The report as Markdown."""
    lines = [
        "| `max_lag` | episodes/s | mean lag | largest | episodes by lag | success before | after (95%) |",
        "|--:|--:|--:|--:|---|--:|---|",
    ]
    for each in report["runs"]:
        low, high = each["interval"]
        lags = ", ".join(f"{lag}: {count}" for lag, count in each["lag"].items())
        lines.append(
            f"| {each['max_lag']} | {each['episodes_per_second']:.1f} | {each['lag_mean']:.2f} | {each['lag_max']} | "
            f"{lags} | {each['before']:.2f} | {each['success']:.2f} ({low:.2f} to {high:.2f}) |"
        )
    return "\n".join([*lines, "", f"{report['ratio']:.2f} times the episodes per second"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=16, help="of each run")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each kind, in turns")
    parser.add_argument("--warm-up", type=int, default=300, help="steps of the warm-up")
    parser.add_argument("--max-lag", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0, help="the longest latency of the tool")
    parser.add_argument("--scale", type=float, default=20.0, help="what it is divided by")
    parser.add_argument("--json", type=Path, help="also write the report there")
    arguments = parser.parse_args()
    sys.path.append(str(Path(__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        model = warm_up(Path(folder) / "warm", arguments.warm_up)
        runs = {0: [], arguments.max_lag: []}
        for seed in range(arguments.seeds):
            for lag, made in runs.items():
                path = Path(folder) / f"lag-{lag}-seed-{seed}"
                made.append(run(path, model, arguments.steps, lag, arguments.seconds / arguments.scale, seed))
    runs = [together(lag, made) for lag, made in runs.items()]
    ratio = runs[1]["episodes_per_second"] / runs[0]["episodes_per_second"]
    show({"runs": runs, "ratio": ratio}, table({"runs": runs, "ratio": ratio}), arguments.json)


if __name__ == "__main__":
    main()
