"""`gemx train` with its environments on Ray."""

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from gem_train.config.training import load_config
from gem_train.runs.checkpoints import checkpoints
from gem_train.runs.display import Display
from gem_train.train import train

pytestmark = pytest.mark.full


def outcome(out: Path, backend: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The numbers that do not depend on the clock, and the weights."""
    settings = {
        "id": "core:Echo-v0",
        "steps": 2,
        "rollout": {"episodes": 8, "num_envs": 4, "max_new_tokens": 8, "backend": backend},
        "warmup": {"steps": 3, "episodes": 4},
        "eval": {"episodes": 4},
        "watch": {"stop": False},
    }
    with Display(quiet=True) as display:
        train(load_config([settings]), out, display)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    left_out = ("seconds", "tokens_per_second", "phase")
    kept = [{key: value for key, value in line.items() if not key.startswith(left_out)} for line in lines]
    return kept, load_file(checkpoints(out)[-1] / "model" / "model.safetensors")


@pytest.mark.usefixtures("local_ray")
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_training_on_ray_is_training_in_this_process(tmp_path: Path) -> None:
    metrics, weights = outcome(tmp_path / "ray", "ray")
    expected, reference = outcome(tmp_path / "sync", "sync")
    # Replies are sampled in other batches, so sums are rounded in another way.
    for found, line in zip(metrics, expected, strict=True):
        assert found == {key: pytest.approx(value, rel=1e-4, abs=1e-5) for key, value in line.items()}
    assert all((weights[name] - tensor).abs().mean() < 1e-5 for name, tensor in reference.items())
