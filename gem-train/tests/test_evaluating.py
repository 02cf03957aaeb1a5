"""Evaluations have an environment, a temperature and an interval of their own, and leave training as it is."""

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from gem.chat.encoder import ChatEncoder
from gem.episode import Episode, Start
from gem.errors import GemError
from gem.record import read
from gem.rollout.named_policies import make_policy
from gem.vector import make_vec
from gem_train.build import make_evaluation
from gem_train.config.training import load_config
from gem_train.models.loading import make_tiny
from gem_train.preflight import check
from gem_train.runs.display import Display
from gem_train.runs.summary import Summary
from gem_train.sft.imitation import imitate
from gem_train.train import train

ENV = '''
from gem import Step
from gem.dataset_env import QuestionEnv

class Chat(QuestionEnv[str]):
    """Long replies are better, and always a success."""

    def __init__(self, level=0, split="train"):
        super().__init__()
        self.level, self.split = level, split

    def _reset(self, options):
        return f"Level {self.level} of {self.split}."

    def _read(self, reply):
        return reply

    def _grade(self, answer):
        return Step.final("So be it.", len(answer) / 10, success=True)

    def sample_action(self):
        return self.action_rng.choice(["yes", "no", "perhaps"])
'''
LEVELS = [{"id": "chat_env:Chat", "env": {"level": level}, "level": level} for level in range(6)]
SMALL: dict[str, Any] = {
    "mix": LEVELS,
    "tasks": {"window": 2},
    "steps": 5,
    "rollout": {"episodes": 8, "num_envs": 8, "max_new_tokens": 8, "record": 8},
    "warmup": {"steps": 20, "episodes": 8},
    "eval": {"episodes": 12},
    "keep_checkpoints": 9,
    "watch": {"stop": False},
}
OWN = {"every": 2, "env": {"level": 5}, "split": "test", "wrappers": "", "temperature": 1e-3}


def run(out: Path, *settings: dict) -> Summary:
    with Display(quiet=True) as display:
        return train(load_config([SMALL, *settings]), out, display)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run with evaluations of its own every second step, and the same run without."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "chat_env.py").write_text(ENV)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        run(folder / "often", {"eval": OWN})
        run(folder / "usual")
    return folder / "often", folder / "usual"


def lines(out: Path, phase: str) -> list[dict]:
    clock = ("seconds", "tokens_per_second")
    every = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if not k.startswith(clock)} for line in every if line["phase"] == phase]


def episodes(out: Path, phase: str) -> list[Episode]:
    return [record for record in read(out / "episodes.jsonl") if record.labels["phase"] == phase]


def test_evaluations_are_made_before_training_after_it_and_at_every_interval(runs):
    often, usual = runs
    assert [line["step"] for line in lines(often, "eval")] == [0, 2, 4, 5]
    assert [line["step"] for line in lines(usual, "eval")] == [0, 5]
    assert all(line["episodes"] == 12 and line["success"] == line["success_high"] == 1 for line in lines(often, "eval"))
    summary = json.loads((often / "summary.json").read_text())
    assert summary["after"]["success"] == lines(often, "eval")[-1]["success"]


def test_evaluations_change_nothing_in_training(runs):
    often, usual = runs
    assert lines(often, "train") == lines(usual, "train")
    assert lines(often, "train")[-1]["level"] > 1  # the curriculum is that of the training episodes alone
    ours, theirs = (load_file(out / "checkpoint" / "step-5" / "model" / "model.safetensors") for out in runs)
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_evaluations_have_their_own_env_split_wrappers_and_temperature(runs):
    often, usual = runs
    own, plain = (episodes(out, "evaluation") for out in (often, usual))
    assert {turn.observation for record in own for turn in record.turns} == {"Level 5 of test."}
    assert len({record.turns[0].action for record in own}) == 1  # as good as greedy
    # By default all levels of training, in equal shares, at the temperature of training.
    asked = Counter(str(record.turns[0].observation) for record in plain)
    assert asked == {f"Level {level} of train.": 2 for level in range(6)}
    assert len({record.turns[0].action for record in plain}) > 1


def test_no_seed_of_an_evaluation_is_trained_on(runs):
    often, _ = runs
    trained = [record.seed for record in episodes(often, "train")]
    evaluated = [record.seed for record in episodes(often, "evaluation")]
    assert len(set(trained)) == len(trained) == 5 * 8
    assert len(set(evaluated)) == len(evaluated) == 12
    assert not set(trained) & set(evaluated)


def test_the_best_checkpoint_is_the_best_by_evaluation(runs):
    often, usual = runs
    found = {line["step"]: (line["success"], line["return"]) for line in lines(often, "eval")}
    best = json.loads((often / "checkpoint" / "best.json").read_text())
    assert best["step"] == max(found, key=lambda step: (found[step], step))
    assert (best["success"], best["return"]) == found[best["step"]]
    # Without evaluations between, by the batches before each checkpoint: here all of them, before the last.
    returns = [line["return"] for line in lines(usual, "train")]
    best = json.loads((usual / "checkpoint" / "best.json").read_text())
    assert best == {"step": 5, "success": 1.0, "return": pytest.approx(fmean(returns))}
    assert returns[-1] != pytest.approx(fmean(returns))


def test_no_seed_of_an_evaluation_is_imitated_in_the_warm_up():
    config = load_config([{"id": "core:Echo-v0", "seed": 3, "warmup": {"steps": 3, "episodes": 8}}])
    loaded, imitated = make_tiny([], 0, device="cpu"), []

    def place(start: Start) -> Start:
        imitated.append(start.seed)
        return start

    with (
        closing(make_policy("random")) as teacher,
        make_vec("core:Echo-v0", 4, info_methods=teacher.info_methods) as envs,
    ):
        settings: Any = {"warmup": config.warmup, "optim": config.optim, "seed": config.seed, "place": place}
        losses = list(imitate(loaded.model, ChatEncoder(loaded.tokenizer), teacher, envs, **settings))
    assert len(losses) == 3
    assert len(set(imitated)) == 3 * 8
    assert set(imitated).isdisjoint(make_evaluation(config, config.evaluated).seeds())


def test_settings_of_the_evaluation_are_checked_before_anything_is_built(tmp_path, monkeypatch):
    (tmp_path / "chat_env.py").write_text(ENV)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(GemError, match="takes no argument 'split'"):
        check(load_config([SMALL, {"eval": {"id": "core:Echo-v0", "split": "test"}}]), tmp_path / "run")
    with pytest.raises(GemError, match="wrapper 'nope'"):
        check(load_config([SMALL, {"eval": {"wrappers": "nope"}}]), tmp_path / "run")
    check(load_config([SMALL, {"eval": {"id": "core:Echo-v0", "wrappers": ""}}]), tmp_path / "run")
