"""TRL's launch file, as its page shows it, with the smallest sizes."""

import json

from samples import launched


def test_the_launch_file_trains_evaluates_and_saves(tmp_path):
    sizes = {"steps": 5, "groups": 2, "group": 2, "max_new_tokens": 6, "evaluate": 8, "lr": 0.001, "seed": 3}
    out = tmp_path / "run"
    said = launched("trl_grpo.py", tmp_path / "model", **sizes, score="success", out=out)
    summary = json.loads(said.splitlines()[-1])
    assert all(0 <= summary[when] <= 1 for when in ("before", "after"))
    curve = json.loads((out / "curve.json").read_text())
    assert curve["success"][-1][0] == 20  # updates: four per batch
    assert (out / "model.safetensors").exists()
