"""Episodes in verl's own trainer: what is trained on is what was read and said, and nothing else."""

import re
import warnings

import pytest
import torch
from agreement import (
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from samples import run_launch_file
from transformers import Qwen3ForCausalLM

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


def test_the_launch_file_trains_and_validates_and_says_where_the_model_is(tmp_path):
    settings(tmp_path)  # for its model
    # A user's own is found in the folder where the file is started.
    (tmp_path / "own_env.py").write_text("from interop_envs import Talk\n\n\nclass Own(Talk):\n    pass\n")
    sizes = {
        "steps": 1,
        "groups": 4,
        "group": 4,
        "max-context": 400,
        "max-new-tokens": MOST,
        "lr": 0.01,
        "evaluate": 64,
    }
    said = run_launch_file(
        "verl_grpo.py",
        *(tmp_path / "model", "--env", "own_env:Own", "--env", "core:Echo-v0", "--out", tmp_path / "out"),
        *(f"--{name}={value}" for name, value in sizes.items()),
        *(setting for setting in CPU if "_freq=" not in setting),
        *("++ray_kwargs.ray_init.num_cpus=32", "++ray_kwargs.ray_init.num_gpus=1"),
        folder=tmp_path,
        **environment(tmp_path),
    )
    assert re.search(r"step:1 .*actor/grad_norm", said)
    for step in ("step:0 ", "step:1 "):
        for id in ("own_env:Own", "core:Echo-v0"):
            assert re.search(rf"{step}.*val-\w+/{id}/success/mean@1", said)
    [model] = re.findall(r"^The model is in (.+)$", said, re.MULTILINE)
    before, after = (Qwen3ForCausalLM.from_pretrained(each).state_dict() for each in (tmp_path / "model", model))
    assert before.keys() == after.keys()
    assert not torch.equal(*(each["lm_head.weight"] for each in (before, after)))
