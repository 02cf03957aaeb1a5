"""TRL's launch file, as its page shows it, with the smallest sizes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from samples import tiny_model, tokenizer

LAUNCH = Path(__file__).parents[2] / "examples" / "frameworks" / "trl_grpo.py"


def test_the_launch_file_trains_evaluates_and_saves(tmp_path):
    model, out = tmp_path / "model", tmp_path / "run"
    tiny_model().save_pretrained(model)
    tokenizer().save_pretrained(model)
    sizes = {"steps": 5, "groups": 2, "group": 2, "max-new-tokens": 6, "evaluate": 8, "lr": 0.001, "seed": 3}
    done = subprocess.run(
        [
            *(sys.executable, str(LAUNCH), str(model), "--env", "game:GuessTheNumber-v0-easy", "--env", "core:Echo-v0"),
            *(f"--{name}={value}" for name, value in sizes.items()),
            *("--score", "success", "--out", str(out)),
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    summary = json.loads(done.stdout.splitlines()[-1])
    assert all(0 <= summary[when] <= 1 for when in ("before", "after"))
    curve = json.loads((out / "curve.json").read_text())
    assert curve["success"][-1][0] == 20  # updates: four per batch
    assert (out / "model.safetensors").exists()
