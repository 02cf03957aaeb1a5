"""Whether a tiny model learns to use a tool: success on long products with Python, and with a tool that is random.

    python benchmarks/tool_training.py [--seeds 0,1] [--set steps=20] [--json FILE]

`gemx train` with `examples/tools.toml`: a model of random weights imitates a few hundred calls and is then trained on
its rewards. Its last checkpoint is played with the tool that it was trained with, and with one of the same name that
answers a random number of the same length. The factors have three digits, so guessing succeeds once in a million.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from peers import show

from gem import make_vec, seeding
from gem.packs.lookup import find_tools
from gem.rollout import rollout
from gem.wrappers.tool_env import ToolEnv
from gem_eval.results import Result
from gem_train.build import build
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config
from gem_train.runs.checkpoints import checkpoints

CONFIG = Path(__file__).parents[1] / "examples" / "tools.toml"
ID = "math:LongArithmetic-v0-easy"
EPISODES = 512


def noisy(env):
    """Five calls of a `python` that answers at random."""
    generator = random.Random(0)

    def noise(code):
        return str(generator.randint(10_000, 998_001))

    return ToolEnv(env, [replace(find_tools("python")[0], function=noise)], max_calls=5)


def success(policy, envs):
    """The share of episodes that succeed, and its interval."""
    policy.reseed(0)
    seeds = (seeding.derive(0, "tool training", episode) for episode in range(EPISODES))
    report = Result.of(rollout(policy, envs, seeds))
    return {"success": report.success, "interval": list(report.success_ci), "turns": report.turns_mean}


def run(seed, settings):
    """Train once; what the summary of the run says, and success with each tool."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        command = ["gemx", "train", ID, "--config", CONFIG, "--seed", str(seed), "--out", path, *settings]
        subprocess.run([Path(sys.executable).with_name("gemx"), *command[1:]], check=True, stdout=sys.stderr)
        summary = json.loads((path / "summary.json").read_text())
        config = load_config([read_toml(path / "config.toml")])
        checkpoint = checkpoints(path)[-1]
        random_tool = make_vec(ID, config.rollout.num_envs, wrappers=[noisy], env_kwargs=config.env)
        with random_tool, build(config, checkpoint) as parts:
            played = {"python": success(parts.sampler, parts.envs), "noise": success(parts.sampler, random_tool)}
    before = {"success": summary["before"]["success"], "interval": summary["before"]["success_ci"]}
    return {"seed": seed, "seconds": summary["seconds"], "after the warm-up": before, **played}


def table(report):
    """The report as Markdown."""
    lines = ["| seed | after the warm-up | after training | with a random tool | seconds |", "|--:|--:|--:|--:|--:|"]
    for each in report["runs"]:
        shares = [each[name]["success"] for name in ("after the warm-up", "python", "noise")]
        lines.append(f"| {each['seed']} | {' | '.join(f'{share:.3f}' for share in shares)} | {each['seconds']:.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0])
    parser.add_argument("--set", action="append", default=[], help="a setting of the run: steps=10")
    parser.add_argument("--json", type=Path, help="also write the report there")
    arguments = parser.parse_args()
    settings = [text for setting in arguments.set for text in ("--set", setting)]
    report = {"episodes": EPISODES, "runs": [run(seed, settings) for seed in arguments.seeds]}
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
