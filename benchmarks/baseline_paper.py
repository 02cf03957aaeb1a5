"""The settings of GEM's paper for a row of `baselines.py`, with a model of your own; for people with GPUs.

They are those of its published commands: 500 updates with 128 episodes each, two passes over a batch, Adam with the
learning rate 1e-6, no KL penalty, temperature 1, replies of up to 4096 tokens (500 for questions), γ = 0.9 in games and
1 elsewhere. Its prompts are put around the first observation; the chat template of the model does the rest. The paper
writes all turns so far into one prompt instead, which a model that keeps its own context does not need.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from baseline_rows import Row

import gem
from gem_train.config.sources import merge, parse_setting
from gem_train.config.training import TrainConfig, load_config
from gem_train.runs.display import Display
from gem_train.train import train

_BOXED = "\nPlease reason step by step, and put your final answer within \\boxed{}."
PROMPTS = {
    "game": ("You are playing language games. Make valid actions to win.\nObservation: ", _BOXED),
    "rg": ("Question: ", "\nPlease reason step by step, and put your final answer between <answer> and </answer>."),
    "code": (
        "You are an expert Python programmer. Write a correct program that matches the specification and passes all "
        "tests.\nQuestion: ",
        "\nPlease reason step by step, and write your code in a block of Markdown that opens with ```python.",
    ),
}
"""Namespace → what comes before the first observation, and what after it. Mathematics and questions have none.

In ReasoningGym our environments read the answer between tags, so the prompt asks for these.
"""


class Prompted(gem.Wrapper):
    """An env with a text before and a text after its first observation."""

    def __init__(self, env: gem.Env, before: str = "", after: str = "") -> None:
        super().__init__(env)
        self.before, self.after = before, after

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[gem.Observation, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        if not isinstance(observation, str):
            return observation, info
        return f"{self.before}{observation}{self.after}", info


def settings(row: Row, algorithm: str, seed: int, model: str, steps: int) -> dict[str, Any]:
    """The settings of `gemx train`: the paper's id with the arguments that it has now, the paper's everything else."""
    namespace = row.paper.partition(":")[0]
    wrappers: list[str | dict[str, Any]] = [row.tool] if row.tool else []
    if namespace in PROMPTS:
        before, after = PROMPTS[namespace]
        wrappers.append({"name": "baseline_paper:Prompted", "before": before, "after": after})
    return {
        "id": row.paper, "wrappers": wrappers, "algorithm": algorithm, "seed": seed, "model": model, "steps": steps,
        "rollout": {"episodes": 128, "max_new_tokens": 500 if namespace == "qa" else 4096, "temperature": 1.0},
        "credit": {"gamma": 0.9 if namespace == "game" else 1.0, "kl": 0.0},
        "optim": {"lr": 1e-6, "epochs": 2, "minibatches": 1},
    }  # fmt: skip


def paper(row: Row, algorithm: str, seed: int, model: str, steps: int, given: Sequence[str], out: Path) -> None:
    """Carry out, or resume, a run with the settings of the paper; `given` are others, as of `gemx train --set`."""
    train(config(row, algorithm, seed, model, steps, given), out, Display())


def config(row: Row, algorithm: str, seed: int, model: str, steps: int, given: Sequence[str]) -> TrainConfig:
    """The settings of such a run, with those that are given over the paper's."""
    return load_config([settings(row, algorithm, seed, model, steps), merge(map(parse_setting, given))])
