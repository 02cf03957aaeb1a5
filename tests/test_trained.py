"""The folder of a training run, measured: it is a model, and its episodes are a recording."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gem.cli.main import main
from gem_train.config.training import load_config
from gem_train.runs.display import Display
from gem_train.train import train


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two steps: four episodes of each are recorded, and the eight of the last evaluation."""
    out = tmp_path_factory.mktemp("runs") / "echo"
    rollout = {"episodes": 8, "num_envs": 8, "max_new_tokens": 8}
    settings = {"steps": 2, "rollout": rollout, "warmup": {"steps": 2, "episodes": 4}, "eval": {"episodes": 8}}
    with Display(quiet=True) as display:
        train(load_config([{"id": "core:Echo-v0", "watch": {"stop": False}}, settings]), out, display)
    return out


@pytest.mark.parametrize("command", ["reproduce", "rescore"])
def test_the_episodes_of_a_run_replay_to_the_byte(finished, command):
    done = CliRunner().invoke(main, [command, str(finished), "--json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["episodes"]) == (0, 2 * 4 + 8)
    if command == "reproduce":
        assert (found["same"], found["differences"]) == (16, [])
    else:
        assert (found["graded"], found["diverged"], found["changes"]) == (16, 0, [])


def test_an_evaluation_does_not_resume_from_episodes_of_other_weights(finished, tmp_path):
    run_folder = shutil.copytree(finished, tmp_path / "run")
    command = ["eval", "core:Echo-v0", "--model", str(run_folder), "--episodes", "3", "--json"]
    command += ["--out", str(tmp_path / "asked")]

    assert json.loads(CliRunner().invoke(main, command).stdout)["resumed"] == 0
    assert json.loads(CliRunner().invoke(main, command).stdout)["resumed"] == 3
    for weights in run_folder.rglob("*.safetensors"):
        os.utime(weights)
    assert json.loads(CliRunner().invoke(main, command).stdout)["resumed"] == 0


def test_a_terminal_shows_that_a_model_is_being_loaded(finished, monkeypatch):
    monkeypatch.setattr("gem_eval.cli.eval.print_waiting", lambda what: print(f"{what} …", file=sys.stderr))
    done = CliRunner().invoke(main, ["eval", "core:Echo-v0", "--model", str(finished), "--episodes", "2"])
    assert done.stderr.startswith("loading the model …\n")
