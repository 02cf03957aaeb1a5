"""A trainer that is killed goes on where its last checkpoint was, and ends where it would have ended."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

SETTINGS = {
    "rollout.episodes": 8,
    "rollout.num_envs": 8,
    "rollout.max_new_tokens": 8,
    "warmup.steps": 10,
    "eval.episodes": 8,
    "checkpoint_every": 3,
    "steps": 40,
}


def command(id: str, out: Path, **settings: int) -> list[str]:
    words = [sys.executable, "-m", "gem", "train", id, "--model", "tiny", "--out", str(out)]
    for key, value in {**SETTINGS, **settings}.items():
        words += ["--set", f"{key}={value}"]
    return words


def start(out: Path) -> subprocess.Popen[bytes]:
    words = command("game:GuessTheNumber-v0-easy", out)
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()


def metrics(out: Path) -> list[dict]:
    """The metrics without what depends on the clock."""
    lines = (out / "metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def test_a_killed_run_ends_with_the_weights_of_an_unbroken_one(tmp_path):
    unbroken, killed = tmp_path / "unbroken", tmp_path / "killed"
    finish(start(unbroken))

    process = start(killed)
    deadline = time.monotonic() + 300
    # Killed some steps after a checkpoint, most likely between two of them.
    while not ((killed / "metrics.jsonl").exists() and '"train", "step": 7' in (killed / "metrics.jsonl").read_text()):
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (killed / "summary.json").exists()
    assert list((killed / "checkpoint").glob("step-*"))
    # A line that the kill tore is no obstacle.
    with (killed / "metrics.jsonl").open("a") as file:
        file.write('{"phase": "train", "st')
    finish(start(killed))

    assert metrics(killed) == metrics(unbroken)
    steps = [line["step"] for line in metrics(killed) if line["phase"] == "train"]
    assert steps == list(range(1, 41))
    ours = load_file(killed / "checkpoint" / "step-40" / "model" / "model.safetensors")
    theirs = load_file(unbroken / "checkpoint" / "step-40" / "model" / "model.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    episodes = [(out / "episodes.jsonl").read_text() for out in (killed, unbroken)]
    assert episodes[0] == episodes[1]


def test_a_finished_run_and_a_run_with_other_settings_are_told_apart(tmp_path):
    out = tmp_path / "run"
    words = [*command("core:Echo-v0", out, **{"steps": 1, "warmup.steps": 1}), "--json"]
    first = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    again = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(first.stdout) == json.loads(again.stdout)
    assert "finished already" in again.stderr
    other = subprocess.run([*words, "--seed", "1"], capture_output=True, text=True, timeout=300, check=False)
    assert other.returncode != 0
    assert "other settings" in other.stderr
    assert "seed" in other.stderr
    expected = {
        "config.toml",
        "metrics.jsonl",
        "episodes.jsonl",
        "curve.png",
        "checkpoint",
        "summary.json",
        "tensorboard",
    }
    assert {path.name for path in out.iterdir()} == expected
    assert json.loads((out / "summary.json").read_text()) == json.loads(first.stdout)
