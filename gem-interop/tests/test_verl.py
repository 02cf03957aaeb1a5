"""Episodes in verl's own trainer: what is trained on is what was read and said, and nothing else."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from agreement import (
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)

with warnings.catch_warnings(action="ignore"):  # verl's own
    from verl_parts import CPU, GROUP, PROMPTS, STEPS, environment, settings, train

pytestmark = pytest.mark.filterwarnings("ignore")
MOST = 6


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two steps of verl's synchronous trainer."""
    folder = tmp_path_factory.mktemp("verl")
    return train(settings(folder, max_new_tokens=MOST, retries=0), folder / "results")


def test_what_was_read_and_said_is_trained_and_a_failed_episode_changes_nothing(trained):
    trainer, results = trained
    pairs = assert_what_was_read_and_said_is_trained(trainer.seen, results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)

    failed = sum(result.failure is not None for result in results)
    assert len(results) == PROMPTS * GROUP * STEPS
    assert 0 < failed == len(results) - len(pairs)
    worth = {id(row): reward for row, reward in zip(trainer.seen, trainer.rewards, strict=True)}
    assert [worth[id(row)] for row, _ in pairs] == pytest.approx([result.total_reward for _, result in pairs])
    used = [id(row) for row, _ in pairs]
    padding = [row for row in trainer.seen if id(row) not in used]
    assert len(padding) == trainer.padding
    assert all((sum(row.mask), row.advantage) == (0, 0.0) for row in padding)
    assert all(metrics["actor/grad_norm"] > 0 for metrics in trainer.metrics)


def test_returns_are_those_of_a_local_replay_and_settings_reach_every_episode(trained):
    _, results = trained
    assert_returns_are_those_of_a_replay(results)
    assert max(len(turn.completion.ids) for result in results for turn in result.episode.turns) == MOST
    seeds = [result.episode.seed for result in results]
    assert {seeds.count(seed) for seed in seeds} == {GROUP}


def test_the_launch_file_trains_and_validates(tmp_path):
    settings(tmp_path)  # for its model
    launch = Path(__file__).parents[2] / "examples" / "frameworks" / "verl_grpo.py"
    sizes = {
        "steps": 1,
        "groups": 4,
        "group": 4,
        "max-context": 400,
        "max-new-tokens": MOST,
        "lr": 0.01,
        "evaluate": 64,
    }
    done = subprocess.run(
        [
            *(sys.executable, str(launch), str(tmp_path / "model"), "--env", "interop_envs:Talk"),
            *("--env", "core:Echo-v0", "--out", str(tmp_path / "out")),
            *(f"--{name}={value}" for name, value in sizes.items()),
            *CPU,
            *("++ray_kwargs.ray_init.num_cpus=32", "++ray_kwargs.ray_init.num_gpus=1"),
        ],
        env={**os.environ, **environment(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"step:1 .*actor/grad_norm", done.stdout)
    for id in ("interop_envs:Talk", "core:Echo-v0"):
        assert re.search(rf"val-\w+/{id}/success/mean@1", done.stdout)
