"""Runs with the engine vllm, with vLLM itself on CPU: `make test-vllm` runs this."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch.distributed
from click.testing import CliRunner

from gem.chat.encoder import ChatEncoder
from gem.cli.main import main
from gem.errors import ConfigError
from gem.rollout import rollout
from gem.rollout.named_policies import make_policy
from gem.vector import make_vec
from gem_train.engines.settings import VLLMSettings
from gem_train.engines.vllm.in_process import VLLMSampler
from gem_train.models.tiny import tiny_model, tiny_tokenizer

RUN = """
steps = 4
checkpoint_every = 2
engine = {max_model_len = 512, kv_cache_gib = 0.1, sleep = true}
eval.episodes = 32
optim = {lr = 2e-3, max_kl = 1.0, minibatches = 2}
rollout = {engine = "vllm", temperature = 0.7, episodes = 32, num_envs = 16, max_new_tokens = 16}
warmup = {steps = 40, episodes = 16, policy = "expert"}
watch.stop = false
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "run.toml").write_text(RUN)
    command = ["train", "core:Echo-v0", "--config", str(folder / "run.toml"), "--out", str(folder / "run")]
    with patch.object(VLLMSampler, "sleep", autospec=True, side_effect=VLLMSampler.sleep) as sleep:
        done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert sleep.call_count == 1 + 4  # in the warm-up, and in each step
    return folder / "run"


def steps_of(run: Path) -> list[dict[str, Any]]:
    """The metrics of the steps of training."""
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line for line in lines if line["phase"] == "train"]


def test_a_run_trains_on_what_vllm_sampled(finished):
    steps = steps_of(finished)
    assert [line["step"] for line in steps] == [1, 2, 3, 4]
    assert all(line["signal"] == 1 and line["grad_norm"] > 0 for line in steps)
    # Of the tokens that were sampled under the weights that score them.
    assert all(line["engine_gap_max"] < 1e-3 for line in steps)


def test_an_adapter_is_trained_and_served_over_its_base(finished):
    out = finished.parent / "adapter"
    settings = {"warmup.steps": 0, "lora.rank": 4, "optim.lr": 0.05, "steps": 2, "eval.episodes": 8}
    words = [f"--set={name}={value}" for name, value in settings.items()]
    config = str(finished.parent / "run.toml")
    command = ["train", "core:Echo-v0", "--model", str(finished), "--config", config, "--out", str(out), *words]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert (out / "checkpoint" / "step-2" / "model" / "adapter_model.safetensors").is_file()
    assert [line["engine_gap_max"] < 1e-3 for line in steps_of(out)] == [True, True]


def test_what_vllm_cannot_run_is_refused_at_the_start():
    tokenizer = tiny_tokenizer([])
    chat, settings = ChatEncoder(tokenizer), VLLMSettings(kv_cache_gib=1e-4)
    with pytest.raises(ConfigError, match="heads of at least 32 dimensions, and this model's have 16"):
        VLLMSampler(tiny_model(tokenizer, 0), chat, max_new_tokens=8)
    with pytest.raises(ConfigError, match="vLLM cannot run this model here: No available memory for the cache"):
        VLLMSampler(tiny_model(tokenizer, 0, head_dim=32), chat, max_new_tokens=8, settings=settings)


def test_nothing_of_vllm_is_left_after_a_run(finished):
    assert not torch.distributed.is_initialized()
    assert not [line for line in Path("/proc/self/task").glob("*/children") if line.read_text().strip()]


def test_a_run_is_a_policy_that_samples_with_vllm(finished):
    policy = make_policy(str(finished))
    with make_vec("core:Echo-v0", 4) as envs:
        episodes = list(rollout(policy, envs, range(8)))
    policy.close()
    assert all(episode.turns[0].completion.weight_versions == (0,) for episode in episodes)
