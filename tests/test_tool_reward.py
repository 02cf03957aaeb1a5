"""examples/tool_reward: its settings are accepted, and its reward pays for the word that the tool shows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gem
from gem.rewards import make_pipeline, scored
from gem.rollout import rollout
from gem_train import preflight
from gem_train.config.sources import read_toml
from gem_train.config.training import load_config

WORDS = ("drum", "fish", "lamp", "rose")
FOLDER = Path(__file__).parent.parent / "examples" / "tool_reward"


@pytest.fixture(autouse=True)
def _there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(FOLDER)


def test_the_settings_are_accepted_and_the_reward_has_at_most_fifteen_lines(tmp_path: Path) -> None:
    preflight.check(load_config([read_toml(Path("run.toml"))]), tmp_path)

    assert len(Path("reward.py").read_text("utf-8").splitlines()) <= 15


@pytest.mark.parametrize(("looks", "paid"), [(1, 1.0), (3, 0.8)])
def test_who_looks_and_tells_is_paid_and_who_looks_on_is_paid_less(looks: int, paid: float) -> None:
    def plays(transcript: gem.Transcript) -> str:
        if len(transcript.turns) < looks:
            return "<look></look>"
        return f"\\boxed{{{next(word for word in WORDS if word in str(transcript.observation))}}}"

    with gem.make_vec("vault:Vault", 2, wrappers="tool_env") as envs:
        episodes = list(scored(rollout(plays, envs, range(6)), make_pipeline("reward.py:found")))

    assert {episode.total_reward for episode in episodes} == {paid}


@pytest.mark.full
def test_the_run_learns_to_use_the_tool(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gem", "train", "--config", "run.toml", "--out", tmp_path / "run", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert json.loads(done.stdout)["after"]["success"] >= 0.9
