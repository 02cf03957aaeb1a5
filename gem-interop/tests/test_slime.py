"""Episodes by slime's own rollout: what its samples have is what was read and said."""

import json
import math
import shlex
import sys
import warnings
from argparse import ArgumentParser
from types import ModuleType, SimpleNamespace

import pytest
import torch
from agreement import (
    Trained,
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from samples import run_launch_file, tiny_model, tokenizer
from sglang_server import serve
from starting import EVALUATION, IDS, SEED, TRAINING

with warnings.catch_warnings(action="ignore"):  # what they import warns, at import
    from slime.rollout import sglang_rollout
    from slime.rollout.data_source import RolloutDataSourceWithBuffer
    from slime.rollout.filter_hub.dynamic_sampling_filters import check_reward_nonzero_std
    from slime.utils import http_utils, misc
    from slime.utils.data import Dataset
    from slime.utils.types import Sample

    from gem_interop import slime

from gem.errors import ConfigError
from gem_interop.playing import start_of

pytestmark = pytest.mark.filterwarnings("default")  # slime's own
GROUPS, GROUP, TEMPERATURE = 25, 4, 0.8


class Kept(slime.Rollout):
    """Keeps the episodes."""

    def __init__(self, **settings):
        super().__init__(max_new_tokens=6, **settings)
        self.results = []

    def ended(self, result):
        self.results.append(result)


def settings(folder, port, **changed):
    """What slime's rollout reads of its arguments, by its own names."""
    starts = folder / "starts.jsonl"
    starts.write_text("".join(json.dumps(row) + "\n" for row in slime.rows("interop_envs:Talk", GROUPS)))
    tokenizer().save_pretrained(folder)
    (folder / "config.json").write_text(tiny_model().config.to_json_string())
    given = {
        "advantage_estimator": "grpo",
        "apply_chat_template": False,
        "apply_chat_template_kwargs": None,
        "buffer_filter_path": None,
        "custom_generate_function_path": "gem_of_the_user.generate",
        "custom_reward_post_process_path": "gem_interop.slime.rewards",
        "custom_rm_path": None,
        "dump_details": None,
        "dynamic_sampling_filter_path": None,
        "group_rm": False,
        "grpo_std_normalization": True,
        "hf_checkpoint": str(folder),
        "input_key": "input",
        "label_key": None,
        "mask_offpolicy_in_partial_rollout": False,
        "metadata_key": "metadata",
        "multimodal_keys": None,
        "n_samples_per_prompt": GROUP,
        "over_sampling_batch_size": GROUPS,
        "partial_rollout": False,
        "prompt_data": str(starts),
        "reward_key": None,
        "rewards_normalization": True,
        "rm_type": None,
        "rollout_all_samples_process_path": None,
        "rollout_batch_size": GROUPS,
        "rollout_global_dataset": True,
        "rollout_max_context_len": 256,
        "rollout_max_prompt_len": None,
        "rollout_max_response_len": 64,
        "rollout_num_engines": 1,
        "rollout_sample_filter_path": None,
        "rollout_sample_hook_path": None,
        "rollout_seed": 0,
        "rollout_shuffle": False,
        "rollout_skip_special_tokens": False,
        "rollout_stop": None,
        "rollout_stop_token_ids": None,
        "rollout_temperature": TEMPERATURE,
        "rollout_top_k": -1,
        "rollout_top_p": 1.0,
        "sglang_dp_size": 1,
        "sglang_router_ip": "127.0.0.1",
        "sglang_router_port": port,
        "sglang_server_concurrency": 16,
        "tool_key": None,
        "use_distributed_post": False,
        "use_rollout_routing_replay": False,
    }
    return SimpleNamespace(**{**given, **changed})


@pytest.fixture(scope="module")
def port():
    with serve() as port:
        yield port


@pytest.fixture
def generate(tmp_path, port, monkeypatch):
    """Groups of samples by slime's own rollout, with `generate` of a module of the user."""

    def samples(rollout, **changed):
        args = settings(tmp_path, port, **changed)
        monkeypatch.setitem(sys.modules, "gem_of_the_user", ModuleType("gem_of_the_user"))
        sys.modules["gem_of_the_user"].generate = rollout.generate
        misc.load_function.cache_clear()
        sglang_rollout.GenerateState.clear_instances()
        http_utils.init_http_client(args)
        made = sglang_rollout.generate_rollout(args, 0, RolloutDataSourceWithBuffer(args))
        return args, [sample for group in made.samples for sample in group]

    return samples


def rows_of_the_loss(args, samples):
    """What slime trains on: its ids, mask and rewards, with log-probabilities of the model."""
    _, advantages = slime.rewards(args, samples)
    model = tiny_model()
    rows = []
    for sample, advantage in zip(samples, advantages, strict=True):
        sample._validate_response_metadata_lengths()
        with torch.no_grad():
            scores = model(torch.tensor([sample.tokens])).logits[0, :-1] / args.rollout_temperature
        logprobs = scores.log_softmax(-1).gather(-1, torch.tensor(sample.tokens)[1:, None])[:, 0].tolist()
        mask = [0] * sample.response_length if sample.remove_sample else sample.loss_mask
        rows.append(Trained(sample.tokens, mask, logprobs[-sample.response_length :], advantage))
    return rows


def test_its_samples_have_what_was_read_and_said(generate):
    rollout = Kept(retries=0)
    args, samples = generate(rollout)
    assert len(samples) == len(rollout.results) == GROUPS * GROUP
    rows = rows_of_the_loss(args, samples)
    pairs = assert_what_was_read_and_said_is_trained(rows, rollout.results)
    assert_returns_are_those_of_a_replay(rollout.results)

    failed = [result for result in rollout.results if result.failure is not None]
    removed = [sample for sample in samples if sample.remove_sample]
    assert len(removed) == len(failed) > 5
    assert {sample.status for sample in removed} == {Sample.Status.FAILED}
    assert all(math.isnan(sample.reward) for sample in removed)
    assert {row.advantage for row, sample in zip(rows, samples, strict=True) if sample.remove_sample} == {0.0}
    assert_failed_episodes_are_left_out_of_their_groups(pairs)
    for row, result in pairs:  # slime's own formula, of those that did not fail
        group = torch.tensor([e.total_reward for _, e in pairs if e.episode.seed == result.episode.seed])
        if len(group) > 1:
            expected = (result.total_reward - group.mean()) / (group.std() + 1e-6)
            assert row.advantage == pytest.approx(float(expected), abs=1e-4)
    assert {version for sample in samples for version in sample.weight_versions} == {"7"}


def test_an_episode_that_failed_is_played_again(generate):
    _, samples = generate(Kept(retries=20))
    assert not any(sample.remove_sample for sample in samples)


def test_slimes_filter_drops_groups_with_a_failed_episode(generate):
    path = f"{check_reward_nonzero_std.__module__}.{check_reward_nonzero_std.__name__}"
    _, samples = generate(Kept(retries=0), dynamic_sampling_filter_path=path, rollout_batch_size=4)
    assert len(samples) == 4 * GROUP
    assert not any(sample.remove_sample for sample in samples)


def test_episodes_that_slime_stops_are_played_later(generate, tmp_path, port):
    rollout = Kept(retries=20)
    # It stops with the first group, while others are played.
    args, samples = generate(rollout, rollout_batch_size=1, partial_rollout=True)
    assert len(samples) == GROUP
    assert all(sample.status in (Sample.Status.COMPLETED, Sample.Status.TRUNCATED) for sample in samples)
    source = RolloutDataSourceWithBuffer(args)
    sglang_rollout.generate_rollout(args, 0, source)
    aborted = [sample for group in source.buffer for sample in group if sample.status == Sample.Status.ABORTED]
    assert aborted
    assert all(not sample.tokens and sample.reward is None for sample in aborted)
    again = sglang_rollout.generate_rollout(args, 1, source)
    assert all(sample.reward is not None for group in again.samples for sample in group)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"custom_reward_post_process_path": None}, "set --custom-reward-post-process-path gem_interop.slime.rewards"),
        ({"rollout_max_context_len": None}, "say how long an episode may be: --rollout-max-context-len"),
        ({"rollout_top_p": 0.9}, "gem_interop.slime fills in samples for rollout_top_p 1.0, not 0.9"),
        ({"reward_key": "score"}, "for reward_key None, not 'score'"),
    ],
)
def test_settings_that_it_cannot_follow_are_refused(generate, changed, why):
    with pytest.raises(ConfigError, match=why):
        generate(Kept(), **changed, rollout_batch_size=1, over_sampling_batch_size=1, n_samples_per_prompt=1)


@pytest.mark.parametrize("score", ["return", "success"])
def test_the_launch_file_is_accepted_by_slime(tmp_path, monkeypatch, score):
    (tmp_path / "train.py").touch()
    given = [tmp_path, "--env", "interop_envs:Talk", "--env", "core:Echo-v0", "--steps", "2", "--seed", "3"]
    given += ["--score", score, "--out", tmp_path, "--dry-run"]
    _, program, *options = shlex.split(run_launch_file("slime_grpo.py", *given))
    assert program == "train.py"

    # Beside its parser, slime imports what needs a GPU, or an account.
    for module, name in (
        ("sglang.srt.server_args", "ServerArgs"),
        ("sglang_router.launch_router", "RouterArgs"),
        ("wandb", "init"),
    ):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
        setattr(sys.modules[module], name, object)
    from slime.utils.arguments import get_slime_extra_args_provider

    args, unknown = get_slime_extra_args_provider()(ArgumentParser()).parse_known_args(options)
    assert not unknown
    wanted = {"return": slime.generate, "success": slime.generate_success}
    assert misc.load_function(args.custom_generate_function_path) == wanted[score]
    assert (args.rollout_max_context_len, args.rollout_seed) == (4096, 3)
    assert misc.load_function(args.custom_reward_post_process_path) == slime.rewards
    data = Dataset(args.prompt_data, tokenizer(), None, args.rollout_max_prompt_len, prompt_key=args.input_key)
    assert [sample.prompt for sample in data.samples] == [
        row["input"] for row in slime.rows(["interop_envs:Talk", "core:Echo-v0"], 32, 3)
    ]


def test_a_batch_of_which_all_failed_is_not_trained_on(tmp_path):
    args = settings(tmp_path, 0)
    failed = Sample(group_index=0, reward=float("nan"), remove_sample=True)
    with pytest.raises(RuntimeError, match="every episode of this batch failed"):
        slime.rewards(args, [failed])
    alone = Sample(group_index=1, reward=2.0)
    assert slime.rewards(args, [failed, alone]) == ([2.0, 2.0], [0.0, 0.0])
    args.rewards_normalization = False
    assert slime.rewards(args, [failed, alone]) == ([2.0, 2.0], [2.0, 2.0])


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = slime.rows(IDS, 3, SEED, evaluation=evaluation)
        assert [start_of(row["input"]) for row in made] == expected
