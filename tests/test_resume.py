"""A trainer that is stopped goes on where its last checkpoint was, and ends where it would have ended."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result
from safetensors.torch import load_file

from gem.cli.main import main
from gem.record import EpisodeRecord, read

STEPS = 14
SETTINGS = {
    "rollout.episodes": 8,
    "rollout.num_envs": 8,
    "rollout.max_new_tokens": 8,
    "warmup.steps": 40,
    "eval.episodes": 8,
    "checkpoint_every": 3,
    "watch.stop": "false",  # what so small a run does to its model is not the question here
    "steps": STEPS,
}


def command(id: str, out: Path, **settings: int | str) -> list[str]:
    words = [sys.executable, "-m", "gem", "train", id, "--model", "tiny", "--out", str(out)]
    for key, value in {**SETTINGS, **settings}.items():
        words += ["--set", f"{key}={value}"]
    return words


def start(out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command("core:Echo-v0", out), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def train(id: str, out: Path, *flags: str, **settings: int | str) -> Result:
    """The same command in this process, which has imported torch already."""
    return CliRunner().invoke(main, [*command(id, out, **settings)[3:], *flags])


def finish(process: subprocess.Popen[bytes]) -> None:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()


def metrics(out: Path) -> list[dict]:
    """The metrics without what depends on the clock."""
    lines = (out / "metrics.jsonl").read_text().splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "seconds"} for line in lines]


def episodes(out: Path) -> list[EpisodeRecord]:
    """The recorded episodes without what depends on the clock."""
    return [record.model_copy(update={"started": None, "seconds": 0.0}) for record in read(out / "episodes.jsonl")]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "unbroken"
    finish(start(out))
    # Weights that never changed would be equal for no good reason.
    assert sum(line["signal"] for line in metrics(out) if line["phase"] == "train") > STEPS / 2
    return out


@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.full)])
def test_a_stopped_run_ends_with_the_weights_of_an_unbroken_one(tmp_path, unbroken, sent):
    stopped = tmp_path / "stopped"
    process = start(stopped)
    deadline = time.monotonic() + 300
    # Stopped some steps after a checkpoint, most likely between two of them.
    while not (
        (stopped / "metrics.jsonl").exists() and '"train", "step": 7' in (stopped / "metrics.jsonl").read_text()
    ):
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.kill(process.pid, sent)
    said = process.communicate(timeout=60)[1].decode()
    assert not (stopped / "summary.json").exists()
    kept = {int(path.name.removeprefix("step-")) for path in (stopped / "checkpoint").glob("step-*")}
    assert kept
    if sent == signal.SIGINT:
        made = [line["step"] for line in metrics(stopped) if line["phase"] == "train"]
        assert process.returncode == 130
        assert made[-1] in kept
        assert f"stopped after step {made[-1]} of {STEPS}, and saved" in said
        # The line that it prints is the whole command.
        again = next(line for line in said.splitlines() if line.startswith("gemx train ")).split()[1:]
    else:
        # A line that the kill cut off is dropped.
        for name, cut_off in {
            "metrics.jsonl": '{"phase": "train", "st',
            "episodes.jsonl": '{"gem_record": 1, ',
        }.items():
            with (stopped / name).open("a") as file:
                file.write(cut_off)
        again = command("core:Echo-v0", stopped)[3:]
    finish(subprocess.Popen([sys.executable, "-m", "gem", *again], stdout=subprocess.PIPE, stderr=subprocess.PIPE))

    assert metrics(stopped) == metrics(unbroken)
    steps = [line["step"] for line in metrics(stopped) if line["phase"] == "train"]
    assert steps == list(range(1, STEPS + 1))
    ours = load_file(stopped / "checkpoint" / f"step-{STEPS}" / "model" / "model.safetensors")
    theirs = load_file(unbroken / "checkpoint" / f"step-{STEPS}" / "model" / "model.safetensors")
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert episodes(stopped) == episodes(unbroken)


def test_a_finished_run_and_a_run_with_other_settings_are_told_apart(tmp_path):
    out = tmp_path / "run"
    settings = {"steps": 1, "warmup.steps": 1}
    first = train("core:Echo-v0", out, "--json", **settings)
    again = train("core:Echo-v0", out, "--json", **settings)
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert json.loads(first.stdout) == json.loads(again.stdout)
    assert "finished already" in again.stderr
    other = train("core:Echo-v0", out, "--json", "--seed", "1", **settings)
    assert other.exit_code != 0
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


def test_a_finished_run_is_extended_by_more_steps_and_by_nothing_else(unbroken, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    fewer = train("core:Echo-v0", out, steps=STEPS - 1)
    assert (fewer.exit_code, f"has made {STEPS} steps already" in fewer.stderr) == (1, True)
    assert (out / "summary.json").exists()
    more = train("core:Echo-v0", out, steps=STEPS + 3)
    assert more.exit_code == 0, more.output
    lines = [line for line in metrics(out) if line["phase"] == "train"]
    assert lines[:STEPS] == [line for line in metrics(unbroken) if line["phase"] == "train"]
    assert [line["step"] for line in lines] == list(range(1, STEPS + 4))
    assert json.loads((out / "summary.json").read_text())["steps"] == STEPS + 3
