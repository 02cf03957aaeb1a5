"""A sampler that does not take the new weights stops its run within one step, and the error says so."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gem.episode import Completion
from gem.errors import Failure, TrainingStopped
from gem_train import build
from gem_train.chat.make import make_chat
from gem_train.config.sections import RolloutConfig
from gem_train.config.training import load_config
from gem_train.engines.hf import HFSampler
from gem_train.models.loading import LoadedModel
from gem_train.runs.display import Display
from gem_train.train import train

SMALL: dict[str, Any] = {
    "id": "play_envs:Walk",  # whose rewards differ whatever is said, so that every step changes the weights
    "steps": 3,
    "rollout": {"episodes": 8, "num_envs": 8, "max_new_tokens": 4},
    "optim": {"lr": 5e-2, "max_kl": 1e9, "minibatches": 4},
    "warmup": {"steps": 0},
    "eval": {"episodes": 4},
}
NEWEST = 1
"""The newest weights that the faulty samplers take: those after the first step."""


class Deaf(HFSampler):
    """Takes no more weights."""

    def load(self, weights: Any, version: int) -> None:
        if version <= NEWEST:
            super().load(weights, version)


class Lying(HFSampler):
    """Takes no more weights, and says that it did."""

    def load(self, weights: Any, version: int) -> None:
        super().load(weights if version <= NEWEST else (), version)


class Behind(Lying):
    """Takes no more weights, and only its replies say so."""

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion | Failure]:
        versions = (min(self.version, NEWEST),)
        replies = super().recv(min_results, timeout)
        return {
            slot: replace(reply, weight_versions=versions) if isinstance(reply, Completion) else reply
            for slot, reply in replies.items()
        }


def run(out: Path, kind: type[HFSampler], patch: pytest.MonkeyPatch, **rollout: Any) -> list[dict[str, Any]]:
    """Train with a sampler that has weights of its own, as an engine in another process has; the metrics by step."""

    def make(loaded: LoadedModel, play: RolloutConfig, *_: object, **__: object) -> HFSampler:
        own = deepcopy(loaded.model)
        return kind(own, make_chat(loaded, play), max_new_tokens=play.max_new_tokens, temperature=play.temperature)

    patch.setattr(build, "make_sampler", make)
    with Display(quiet=True) as display:
        train(load_config([SMALL, {"rollout": rollout}]), out, display)
    return metrics(out)


def metrics(out: Path) -> list[dict[str, Any]]:
    lines = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
    return [line for line in lines if line["phase"] == "train"]


@pytest.mark.parametrize(
    ("kind", "step", "reason", "rollout"),
    [
        (Deaf, 1, "after step 2: the sampler did not take the new weights: it has version 1, and was given 2", {}),
        (Deaf, 1, "after step 2: the sampler did not take the new weights: it has version 1", {"max_lag": 1}),
        (Behind, 2, "at step 3: a reply .* was sampled under the weights of versions 1 to 1", {}),
        (Lying, 3, "at step 3: engine gap: .* or did not take the newest weights", {}),
    ],
)
def test_a_sampler_that_does_not_take_the_new_weights_stops_its_run_within_one_step(
    kind: type[HFSampler], step: int, reason: str, rollout: dict[str, Any], tmp_path: Path, monkeypatch: Any
) -> None:
    with pytest.raises(TrainingStopped, match=f"^stopped {reason}"):
        run(tmp_path / "run", kind, monkeypatch, **rollout)
    assert len(metrics(tmp_path / "run")) == step


def test_a_sampler_with_weights_of_its_own_computes_what_the_learner_does(tmp_path: Path, monkeypatch: Any) -> None:
    lines = run(tmp_path / "run", HFSampler, monkeypatch)
    assert [line["signal"] for line in lines] == [1] * 3
    assert max(line["engine_gap"] for line in lines) < 1e-4
