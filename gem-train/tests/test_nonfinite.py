"""Numbers that are not finite stop a run before they are saved."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from gem.errors import TrainingStopped
from gem_train.algorithms.credit import Credit
from gem_train.batch import Batch, TokenSequence
from gem_train.config.training import load_config
from gem_train.runs.checkpoints import checkpoints
from gem_train.runs.display import Display
from gem_train.runs.nonfinite import in_batch
from gem_train.train import train

SMALL = {
    "id": "core:Echo-v0",
    "steps": 3,
    "checkpoint_every": 2,
    "rollout": {"episodes": 8, "num_envs": 8, "max_new_tokens": 8},
    "warmup": {"steps": 20, "episodes": 8},
    "eval": {"episodes": 8},
    "watch": {"stop": False},
}
OVERFLOWING = '''
from gem import Step
from gem.dataset_env import QuestionEnv

class Overflowing(QuestionEnv[str]):
    """The reward of every reply is too large for a batch."""

    def _reset(self, options):
        return "Question"

    def _read(self, reply):
        return reply

    def _grade(self, answer):
        return Step.final("So be it.", float("REWARD"), success=False)

    def sample_action(self):
        return "yes"
'''


def stop(out: Path, *settings: dict) -> str:
    """The reason for which a run stopped; what it saved is finite, and so is every number in its metrics."""
    with Display(quiet=True) as display, pytest.raises(TrainingStopped) as stopped:
        train(load_config([SMALL, *settings]), out, display)
    saved = [load_file(folder / "model" / "model.safetensors") for folder in checkpoints(out)]
    assert all(tensor.isfinite().all() for weights in saved for tensor in weights.values())
    assert "NaN" not in (out / "metrics.jsonl").read_text()
    return str(stopped.value)


@pytest.mark.parametrize(
    ("optim", "found"),
    [
        ({"lr": 1e30}, r"stopped at step \d: .*grad_norm = nan.* in the update"),
        # One update, from finite numbers: the weights themselves overflow, or the next batch meets them.
        ({"lr": 1e40, "minibatches": 1}, r"stopped at step \d: a log-probability of the sampler is not finite"),
    ],
)
def test_an_update_that_is_not_finite_stops_the_run_and_nothing_of_it_is_saved(tmp_path, optim, found):
    reason = stop(tmp_path / "run", {"optim": optim})
    [kept] = checkpoints(tmp_path / "run")
    assert kept.name == "step-0"
    assert f"smaller optim.lr (now {optim['lr']:g})" in reason
    assert "optim.grad_clip (now 1)" in reason
    assert f"--model {kept}" in reason
    assert re.match(found, reason)


def test_an_advantage_or_a_log_probability_that_is_not_finite_is_found_before_the_update():
    turn = np.array([-1, 0])

    def found(logprob: float, advantage: float) -> str | None:
        sequence = TokenSequence(turn, turn >= 0, np.array([0, logprob], np.float32), turn)
        nothing = np.zeros(1, np.float32)
        batch = Batch.of([sequence], nothing, np.zeros(1, np.int64))
        return in_batch(batch, Credit(nothing, np.array([advantage], np.float32)))

    assert found(-0.5, 1.0) is None
    assert found(-np.inf, 1.0) == "a log-probability of the sampler is not finite"
    assert found(-0.5, np.nan) == "an advantage is not finite"


def test_weights_that_overflowed_in_the_last_update_are_not_saved(tmp_path):
    reason = stop(tmp_path / "run", {"optim": {"lr": 1e40, "minibatches": 1}, "steps": 1})
    assert reason.startswith("stopped at step 1: the weight model.")
    assert [folder.name for folder in checkpoints(tmp_path / "run")] == ["step-0"]


def test_a_loss_of_the_warm_up_that_is_not_finite_stops_it(tmp_path):
    reason = stop(tmp_path / "run", {"warmup": {"lr": 1e30}})
    assert "smaller warmup.lr (now 1e+30)" in reason
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["loss"] is None
    assert reason.startswith(f"stopped at step {last['step']} of the warm-up: its loss is nan.")


@pytest.mark.parametrize("reward", ["inf", "1e39"])
def test_a_reward_that_is_not_finite_stops_the_run_and_names_the_episode(tmp_path, monkeypatch, reward):
    (tmp_path / "overflowing.py").write_text(OVERFLOWING.replace("REWARD", reward))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "overflowing", raising=False)
    reason = stop(tmp_path / "run", {"id": "overflowing:Overflowing", "warmup": {"steps": 0}})
    assert reason.startswith("stopped at step 1: a reward of overflowing:Overflowing, seed ")
    assert "gemx check" in reason
