"""A step of GRPO, compared with TRL's GRPOTrainer: the same task, model, batch and number of updates.

    python benchmarks/grpo_step.py [--steps 12] [--repeats 3] [--sizes tiny,small] [--json FILE]

A step samples 64 replies of at most 32 ids, 8 to each of 8 prompts, grades them, and updates the weights once, in
float32 on one thread. Both sides sample with transformers from the same model of random weights, at temperature 1, and
train on the policy's own samples without a KL term; gradient checkpointing, which TRL's default switches on, is off.
The task costs nothing and rewards every other reply, so that every step has a gradient; the learning rate is so small
that the replies keep their length. Each side's step is the time between the ends of two steps, with everything that
its loop does. The sides take turns, each in a process of its own; the first steps are left out.

TRL is installed from PyPI into a virtual environment of its own, and kept for the next run.
"""

import importlib
import json
import os
import platform
import statistics
import sys
import tempfile
from argparse import SUPPRESS

from peers import PEERS, ask, options, python_of, show

SIDES = {"gem-train": "sides.trl_ours", "TRL": "sides.trl_grpo"}
SIZES = {
    "tiny": {},
    "small": {"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 8, "num_attention_heads": 8},
}
"""Settings of the Qwen3 of `--model tiny` that differ."""
WARM_UP = 2
"""Steps of each run that are left out."""


def make_model(size, folder):
    """A model of random weights with a tokenizer; returns its number of parameters."""
    from sides.even import PROMPTS
    from transformers import Qwen3ForCausalLM

    from gem.episode import Completion, Episode, Trace, Turn
    from gem_train.models.tiny import tiny_model, tiny_tokenizer

    turns = tuple(Turn(text, Completion(""), 0.0, {}) for text in PROMPTS)
    episode = Episode(
        id="", seed=0, traces=(Trace(turns),), observation="", terminated=True, truncated=False, success=False
    )
    tokenizer = tiny_tokenizer([episode])
    model = tiny_model(tokenizer, 0)
    if SIZES[size]:
        config = model.config
        config.update(SIZES[size])
        config.layer_types = None
        model = Qwen3ForCausalLM(type(config)(**config.to_dict()))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return sum(weight.numel() for weight in model.parameters())


def run(arguments):
    """Seconds per step of both sides, by size of the model."""
    pythons = {"gem-train": sys.executable, "TRL": python_of("trl", arguments.venv_dir)}
    results = []
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as folder:
            parameters = make_model(size, folder)
            case = json.dumps({"model": folder, "steps": arguments.steps + WARM_UP})
            taken = {side: [] for side in SIDES}
            for _ in range(arguments.repeats):
                for side, module in SIDES.items():
                    taken[side].append(json.loads(ask(pythons[side], __file__, "--play", module, case)))
        for side, runs in taken.items():
            steps = [
                [later[clock] - earlier[clock] for earlier, later in zip(one["ends"], one["ends"][1:], strict=False)]
                for clock in (0, 1)
                for one in runs
            ]
            wall, cpu = (
                statistics.median(second for one in half for second in one[WARM_UP:])
                for half in (steps[: len(runs)], steps[len(runs) :])
            )
            tokens = statistics.mean(one["tokens"] for one in runs)
            results.append(
                {
                    "size": size,
                    "parameters": parameters,
                    "side": side,
                    "seconds": wall,
                    "cpu_seconds": cpu,
                    "ids_per_reply": tokens,
                }
            )
    return {
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "trl": PEERS["trl"],
        "steps": arguments.steps,
        "repeats": arguments.repeats,
        "results": results,
    }


def table(report):
    """The report as Markdown."""
    lines = [
        "| model | side | ids per reply | s per step | CPU s per step | times as fast |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for result in report["results"]:
        [peer] = [one for one in report["results"] if one["size"] == result["size"] and one["side"] == "TRL"]
        times = "" if result is peer else f"{peer['cpu_seconds'] / result['cpu_seconds']:.2f}"
        lines.append(
            f"| {result['size']}, {result['parameters'] / 1e6:.2f} M | {result['side']} "
            f"| {result['ids_per_reply']:.1f} | {result['seconds']:.3f} | {result['cpu_seconds']:.3f} | {times} |"
        )
    return "\n".join(lines)


def main():
    """Measure both sides, or play one of them."""
    parser = options("A step of GRPO, compared with TRL's GRPOTrainer.", repeats=3)
    parser.add_argument("--steps", type=int, default=12, help="that are measured, in each run")
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=list(SIZES))
    parser.add_argument("--play", nargs=2, help=SUPPRESS)
    arguments = parser.parse_args()
    if arguments.play:
        module, case = arguments.play
        print(json.dumps(importlib.import_module(module).play(json.loads(case))))
        return
    report = run(arguments)
    show(report, table(report), arguments.json)


if __name__ == "__main__":
    main()
