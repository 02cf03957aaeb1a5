"""Rewards besides the env in training: groups wait for scores, failures replace groups, and a run keeps its own."""

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from play_policies import Player

import gem
from gem.cli.main import main
from gem.episode import Episode
from gem.record import read
from gem_train.play import Play, Played

RNG = random.Random(0)


@gem.reward
def slow(episode: Episode) -> float:
    """A number of its own, after some milliseconds."""
    time.sleep(RNG.random() / 100)
    return (episode.seed + episode.group) % 7


@gem.reward
def moody(episode: Episode) -> float:
    if episode.seed % 4 == 0:
        raise ConnectionError("the judge does not answer")
    return 1.0


def play(*rewards: Any, **settings: Any) -> list[Played]:
    pipeline = gem.RewardPipeline(list(rewards), weights={"env": 0})
    with gem.make_vec("play_envs:Walk", 5) as envs:
        player = Player(20)
        made = Play(player, envs, steps=6, episodes=8, group_size=2, seed=3, reward=pipeline, **settings)
        try:
            return player.steps(made, range(6))
        finally:
            made.close()


@pytest.mark.parametrize("settings", [{}, {"max_lag": 1}, {"max_lag": 1, "asynchronous": True}], ids=str)
def test_a_step_learns_from_episodes_with_all_of_their_scores(settings: dict[str, Any]) -> None:
    steps = play(slow, **settings)

    for played in steps:
        assert len(played.episodes) == 8
        assert [each.total_reward for each in played.episodes] == [(e.seed + e.group) % 7 for e in played.episodes]
    if not settings:
        assert [[each.start for each in played.episodes] for played in play(slow)] == [
            [each.start for each in played.episodes] for played in steps
        ]


def test_groups_of_which_a_reward_failed_are_replaced_and_counted_as_failed() -> None:
    steps = play(moody)

    failed = [episode for played in steps for episode in played.failed]
    learned = [episode for played in steps for episode in played.episodes]
    assert failed
    assert all(episode.failure.error.startswith("RewardFailed: moody") for episode in failed if episode.failure)
    assert {episode.total_reward for episode in learned} == {1.0}
    assert not {episode.seed for episode in failed} & {episode.seed for episode in learned}


REWARD = """
import gem

@gem.reward
def long(answer: str) -> float:
    return len(answer) / 10
"""


def test_a_run_trains_and_is_evaluated_on_the_reward_of_a_file_and_resumes_with_it_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(REWARD)
    out = tmp_path / "run"
    small = {"rollout.episodes": 8, "rollout.num_envs": 8, "rollout.max_new_tokens": 8, "warmup.steps": 2,
             "warmup.episodes": 4, "eval.episodes": 8, "watch.stop": "false", "checkpoint_every": 1}  # fmt: skip

    def gemx(*more: str) -> Any:
        sets = [word for name, value in small.items() for word in ("--set", f"{name}={value}")]
        return CliRunner().invoke(main, ["train", "core:Echo-v0", *sets, "--out", str(out), *more])

    done = gemx("--reward", f"{tmp_path}/mine.py:long", "--steps", "2", "--json")

    told = json.loads(done.stdout)
    episodes = list(read(out / "episodes.jsonl"))
    assert episodes
    for episode in episodes:
        (turn,) = episode.turns
        assert turn.parts["long"] == len(turn.action) / 10
    lines = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
    for step in (line for line in lines if line["phase"] == "train"):
        assert step["part/env"] + step["part/long"] == pytest.approx(step["return"])
    expert = told["before"]["floors"]["expert"]
    assert expert["return_mean"] == pytest.approx(1 + 1.3, abs=0.11)  # \boxed{…} of a word, and the env's 1
    assert "reward" in gemx("--steps", "3").stderr  # without it, these are other settings
    assert gemx("--reward", f"{tmp_path}/mine.py:long", "--steps", "3").exit_code == 0
    missing = gemx("--reward", "none.py:long", "--out", str(tmp_path / "other"))
    assert "the file 'none.py' of the reward" in missing.stderr
