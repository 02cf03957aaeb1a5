"""Whether `gemx train ID --model tiny` learns with its defaults: success before, after the warm-up, and after training.

    python benchmarks/training.py [--seeds 0,1,2] [--set KEY=VALUE] [--folder DIR] [--json] [ID ...]

Each row is a whole `gemx train`, in a process of its own with one thread. With `--folder` the runs are kept there: one
that has finished is not repeated, and one that was stopped resumes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from gem import seeding
from gem.rollout import rollout
from gem_eval.results import Result
from gem_train.build import build
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config

IDS = [
    "core:Echo-v0",
    "math:Arithmetic-v0-easy",
    "math:NumberTheory-v0-easy",
    "tools:MultiHop-v0-easy",
    "rg:coin_flip",
    "rg:gcd",
    "rg:count_bits",
    "rg:letter_counting",
    "rg:syllogism",
    "math:Arithmetic-v0",
    "game:FifteenPuzzle-v0-easy",
    "game:TowerofHanoi-v0-easy",
    "game:GuessTheNumber-v0-easy",
    "code:Puzzles-v0-easy",
    "code:Basics-v0",
]
"""Environments of every pack at their lowest difficulty, and one with which earlier defaults failed."""
UNTRAINED_EPISODES = 64


def train(id: str, seed: int, settings: list[str], out: Path) -> dict[str, Any]:
    """One run: its summary and the success of its model before the warm-up, or why it stopped."""
    command = [sys.executable, "-m", "gem", "train", id, "--model", "tiny", "--seed", str(seed), "--out", str(out)]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False
    )
    if done.returncode:
        return {"id": id, "seed": seed, "error": done.stderr.strip().splitlines()[-1]}
    summary = json.loads(done.stdout)
    return {**summary, "success_untrained": untrained(out, summary["warmup_policy"] or "random")}


def untrained(out: Path, teacher: str) -> float:
    """The success of the run's model of random weights."""
    config = load_config([read_toml(out / "config.toml")])
    torch.set_num_threads(1)
    with build(config, teacher=teacher) as parts:
        seeds = (seeding.derive(config.seed, "evaluation", index) for index in range(UNTRAINED_EPISODES))
        return Result.of(rollout(parts.sampler, parts.envs, seeds)).success


def row(run: dict[str, Any]) -> str:
    """A row of GitHub Markdown."""
    if "error" in run:
        return f"| `{run['id']}` | {run['seed']} | {run['error']} |||||||"
    before, after = run["before"], run["after"]
    floors = [before["floors"].get(name, {}).get("success") for name in ("random", "expert")]
    low, high = after["success_ci"]
    rates = [*floors, run["success_untrained"], before["success"]]
    words = " | ".join("-" if rate is None else f"{rate:.2f}" for rate in rates)
    return (
        f"| `{run['id']}` | {run['seed']} | {words} | {after['success']:.2f} [{low:.2f}, {high:.2f}] "
        f"| {run['warmup_policy']} | {run['steps']} | {run['seconds']:.0f} |"
    )


HEADER = """\
| env | seed | random | expert | before | after warm-up | after training [95% interval] | imitated | steps | seconds |
|---|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", default=IDS)
    parser.add_argument("--seeds", default="0,1,2", help="separated by commas")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--folder", type=Path, help="where to keep the runs; by default they are removed")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    if not arguments.json:
        print(HEADER)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        # Seed by seed, so that a table that is cut short has every env.
        for seed in map(int, arguments.seeds.split(",")):
            for id in arguments.ids:
                out = (arguments.folder or Path(scratch)) / f"{id.replace(':', '-')}-{seed}"
                runs.append(train(id, seed, arguments.settings, out))
                if not arguments.json:
                    print(row(runs[-1]), flush=True)
    if arguments.json:
        print(json.dumps({"settings": arguments.settings, "runs": runs}))


if __name__ == "__main__":
    main()
