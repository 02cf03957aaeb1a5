"""How far from an equilibrium of Kuhn poker a tiny model plays after self-play, and after a frozen opponent.

    python benchmarks/selfplay.py [--seeds 0,1] [--sides selfplay,control] [--set steps=20] [--json FILE]

`gemx train` with `examples/selfplay.toml`. The last checkpoint's probabilities at the 12 information sets are those of
the two legal replies, in the conversation as training shows it; NashConv is computed from them exactly: what both
players together could win by a best response to the other, in chips. The control has the same settings, and meets
uniformly random play instead of earlier selves: what wins against that is far from an equilibrium.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import tomli_w
import torch
from peers import show

from gem_envs_arena.kuhn_equilibrium import INFORMATION_SETS, nash_conv
from gem_envs_arena.kuhn_prompts import information_sets
from gem_train.chat.make import make_chat
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config
from gem_train.models.loading import load_model
from gem_train.runs.checkpoints import checkpoints

CONFIG = Path(__file__).parents[1] / "examples" / "selfplay.toml"
SIDES = {"selfplay": {}, "control": {"opponent": "random"}}
"""The table `selfplay` of the settings, other than the example's."""


@torch.no_grad()
def probabilities(checkpoint, rollout):
    """For each information set, the probability of betting or calling among the legal replies, and that of any."""
    loaded = load_model(str(checkpoint), device="cpu")
    chat = make_chat(loaded, rollout)

    def chance(transcript, reply):
        said = [(turn.observation, turn.action) for turn in transcript.turns]
        completions = list(chat.as_sampled([*said, (transcript.observation, reply)]))
        ids = [id for each in completions for id in (*each.prompt_ids, *each.ids)]
        scores = loaded.model(torch.tensor([ids[:-1]])).logits[0].double().log_softmax(-1)
        count = len(completions[-1].ids)
        return float(scores[-count:].gather(-1, torch.tensor(ids[-count:])[:, None]).sum().exp())

    chances, legal = {}, {}
    for name, transcript, *replies in information_sets(rules=False):
        passive, active = (chance(transcript, reply) for reply in replies)
        chances[name], legal[name] = active / (passive + active), passive + active
    return chances, legal


def run(side, seed, settings):
    """Train once; NashConv after training and after the warm-up, and what it is computed from."""
    with tempfile.TemporaryDirectory() as folder:
        config, out = Path(folder) / "settings.toml", Path(folder) / "run"
        values = read_toml(CONFIG)
        config.write_text(tomli_w.dumps({**values, "selfplay": SIDES[side] or values["selfplay"]}))
        command = ["train", "--config", config, "--seed", str(seed), "--out", out, "--set", "keep_checkpoints=1000"]
        gemx = Path(sys.executable).with_name("gemx")
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run([gemx, *command, *settings], check=True, stdout=sys.stderr, env=environment)
        summary = json.loads((out / "summary.json").read_text())
        rollout = load_config([read_toml(out / "config.toml")]).rollout
        found = [probabilities(checkpoint, rollout) for checkpoint in checkpoints(out)]
    chances, legal = found[-1]
    return {
        "side": side,
        "seed": seed,
        "seconds": summary["seconds"],
        "before": nash_conv(found[0][0]),
        "nash_conv": nash_conv(chances),
        "curve": [round(nash_conv(each), 3) for each, _ in found],
        "legal": min(legal.values()),
        "won_against_random": summary["after"]["success"],
        "probabilities": {name: round(chances[name], 3) for name in INFORMATION_SETS},
    }


def table(report):
    """The report as Markdown."""
    lines = ["| opponent | seed | NashConv after the warm-up | after training | seconds |", "|---|--:|--:|--:|--:|"]
    names = {"selfplay": "earlier selves", "control": "frozen, uniform"}
    for each in report["runs"]:
        scores = f"{each['before']:.3f} | {each['nash_conv']:.3f}"
        lines.append(f"| {names[each['side']]} | {each['seed']} | {scores} | {each['seconds']:.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0])
    parser.add_argument("--sides", type=lambda text: text.split(","), default=list(SIDES))
    parser.add_argument("--set", action="append", default=[], help="a setting of the run: steps=10")
    parser.add_argument("--json", type=Path, help="also write the report there")
    arguments = parser.parse_args()
    settings = [text for setting in arguments.set for text in ("--set", setting)]
    runs = [run(side, seed, settings) for side in arguments.sides for seed in arguments.seeds]
    uniform = nash_conv(dict.fromkeys(INFORMATION_SETS, 0.5))
    report = {"uniform": uniform, "runs": runs}
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
