"""Whole runs of each algorithm, as small as possible."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gem_train.config.training import load_config
from gem_train.runs.display import Display
from gem_train.train import train

SMALL = {
    "id": "core:Echo-v0",
    "steps": 4,
    "rollout": {"episodes": 16, "num_envs": 16, "group_size": 4, "max_new_tokens": 8},
    "optim": {"lr": 1e-3, "lr_end": 1e-3, "entropy": 0.02, "entropy_end": 0.02},
    "warmup": {"steps": 60, "episodes": 8, "policy": "random"},
    "eval": {"episodes": 4},
    "checkpoint_every": 2,
    "watch": {"stop": False},
}
"""Schedules do not depend on the number of steps."""
PPO = {"algorithm": "ppo", "credit": {"kl": 0.1, "old_logprobs": "learner", "importance_cap": 2.0}}


def run(out: Path, *settings: dict[str, Any]) -> list[dict[str, Any]]:
    """The metrics of the steps."""
    with Display(quiet=True) as display:
        train(load_config([SMALL, *settings]), out, display)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["phase"] == "train"]


@pytest.mark.full
def test_a_run_of_ppo_with_a_reference_continues_as_if_it_had_not_ended(tmp_path: Path):
    """Critic and reference are in the checkpoint, also when it is read from a file."""
    unbroken = run(tmp_path / "unbroken", PPO)
    run(tmp_path / "extended", PPO, {"steps": 2})
    extended = run(tmp_path / "extended", PPO)
    timed = "seconds", "tokens_per_second"
    for lines in (unbroken, extended):
        for line in lines:
            for name in [name for name in line if name.startswith(timed)]:
                del line[name]
    assert extended == unbroken
    assert any(line["signal"] for line in unbroken)
    assert unbroken[-1]["kl_reference"] > 0
    assert unbroken[-1]["explained_variance"] != 0
    ours, theirs = (
        load_file(tmp_path / name / "checkpoint" / "step-4" / "model" / "model.safetensors")
        for name in ("extended", "unbroken")
    )
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.mark.full
@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "reinforce"},
        {"algorithm": "reinforce", "credit": {"kl": 0.1, "kl_in": "reward", "actions": "token"}},
        {"algorithm": "rebn", "credit": {"per_env": True, "normaliser": "episode"}},
        {"algorithm": "grpo"},
        {"algorithm": "grpo", "credit": {"actions": "episode", "deviation": False, "normaliser": "constant"}},
        {"algorithm": "grpo", "credit": {"deviation": False, "leave_one_out": True, "cut_replies": "mask"}},
        {"algorithm": "ppo", "credit": {"actions": "token", "gamma": 1.0, "critic": {"clip": 0.2, "epochs": 2}}},
        {"algorithm": "ppo", "credit": {"actions": "episode", "cut_replies": "truncate"}},
    ],
    ids=str,
)
def test_each_algorithm_changes_the_weights(tmp_path: Path, settings: dict[str, Any]):
    lines = run(tmp_path / "run", settings)
    assert len(lines) == 4
    assert any(line["signal"] and line["grad_norm"] > 0 for line in lines)
