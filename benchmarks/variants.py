"""GSPO, CISPO, rejection of actions and dynamic sampling on Guess the Number: success before and after, by seed.

    python benchmarks/variants.py --folder DIR [--seeds 3]

The task is the sparse one of `algorithms.py`, with its models, its number of steps, and the settings of REINFORCE and
GRPO there at γ = 1. GSPO, CISPO and rejection are parts of the loss, and are tried with REINFORCE; dynamic sampling is
tried with both. A finished run in the folder is not repeated.
"""

import argparse
from pathlib import Path
from statistics import fmean
from typing import Any

from algorithms import OWN, Trial, run

from gem_train.runs.compare import read_run

REJECTING = {"old_logprobs": "learner", "importance": "action", "importance_cap": 2.0, "importance_beyond": "reject"}
CLIPPED = "clip_fraction", "of the tokens clipped"
REJECTED = "importance_rejected", "of the tokens rejected"
REPLACED = "filtered", "episodes of a step replaced"
VARIANTS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "gspo": ({"algorithm": "reinforce", "credit": {"ratio": "action", "clip": 0.1}}, CLIPPED),
    "cispo": ({"algorithm": "reinforce", "credit": {"policy_loss": "cispo"}}, CLIPPED),
    # With more environments than a step has episodes, replies are of older weights.
    "rejection": (
        {"algorithm": "reinforce", "credit": REJECTING, "rollout": {"max_lag": 1, "num_envs": 192}},
        REJECTED,
    ),
    "dynamic-reinforce": (
        {"algorithm": "reinforce", "rollout": {"group_size": 4, "dynamic_sampling": 3}},
        REPLACED,
    ),
    "dynamic-grpo": ({"algorithm": "grpo", "rollout": {"group_size": 8, "dynamic_sampling": 3}}, REPLACED),
}
"""Name → the settings that it adds, and the metric that says how much they did, with its words."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--seeds", type=int, default=3, help="how many, counted from 0")
    arguments = parser.parse_args()
    OWN.update({name: settings for name, (settings, _) in VARIANTS.items()})
    print(f"| variant | {' | '.join(f'seed {seed}' for seed in range(arguments.seeds))} | in training | what it did |")
    print(f"|---|{'--:|' * (arguments.seeds + 1)}---|")
    for name, (_, (metric, words)) in VARIANTS.items():
        trials = [Trial("sparse", name, 1.0, seed, 8e-4, 0.01) for seed in range(arguments.seeds)]
        results = [run(trial, arguments.folder) for trial in trials]
        successes = " | ".join(f"{each.before:.2f} → {each.after:.2f}" for each in results)
        runs = (read_run(trial.path(arguments.folder)) for trial in trials)
        used = fmean(point.mean for each in runs for point in each.points(metric, "train"))
        training = fmean(each.training for each in results)
        print(f"| `{name}` | {successes} | {training:.2f} | {used:.2g} {words} |", flush=True)


if __name__ == "__main__":
    main()
