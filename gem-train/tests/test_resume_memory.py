"""A run that resumes needs no more memory than one that was not stopped."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from torch.utils._pytree import tree_leaves
from transformers import Qwen3Config, Qwen3ForCausalLM

from gem.cli.main import main
from gem_train.config.sources import read_toml
from gem_train.distributed.shards import Stored
from gem_train.models.tiny import VOCABULARY, tiny_tokenizer
from gem_train.runs.folder import RunFolder

SMALL: dict[str, Any] = {
    "checkpoint_every": 1,
    "rollout.episodes": 4,
    "rollout.num_envs": 4,
    "rollout.max_new_tokens": 4,
    "eval.episodes": 1,
    "optim.lr": 1e-4,
    "credit.kl": 0.1,
    "watch.stop": "false",
    "log.tensorboard": "false",
    "threads": 1,
    "device": "cpu",
}


def words(out: Path, **settings: Any) -> list[str]:
    given = ["train", "core:Echo-v0", "--out", str(out)]
    for key, value in {**SMALL, **settings}.items():
        given += ["--set", f"{key}={value}"]
    return given


def test_reading_a_checkpoint_brings_no_tensor_of_it_into_memory(tmp_path: Path) -> None:
    settings = {"algorithm": "ppo", "credit.old_logprobs": "learner", "warmup.steps": 0, "steps": 1}
    done = CliRunner().invoke(main, words(tmp_path / "run", **settings))
    assert done.exit_code == 0, done.stderr
    with RunFolder(tmp_path / "run", read_toml(tmp_path / "run" / "config.toml")) as folder:
        state = folder.state({"learner"})
    leaves = tree_leaves(state)
    assert sum(isinstance(leaf, Stored) for leaf in leaves) > 100
    assert not any(isinstance(leaf, torch.Tensor) for leaf in leaves)


def peak(printed: Path, *command: str) -> int:
    """The most memory that a process had, in bytes."""
    with printed.open("w") as file:
        process = subprocess.Popen([sys.executable, "-m", "gem", *command], stdout=file, stderr=file)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, printed.read_text()
    return used.ru_maxrss * 1024


@pytest.mark.full
@pytest.mark.parametrize("weights", ["float32", "bfloat16"])
def test_the_peak_of_a_resumed_run_is_that_of_an_unbroken_one(tmp_path: Path, weights: str) -> None:
    """20 million parameters, so that another copy of their state (0.24 GB) is a fifth of the peak."""
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=512,
        intermediate_size=1536,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=8,
        head_dim=64,
        max_position_embeddings=256,
        tie_word_embeddings=True,
    )
    tokenizer = tiny_tokenizer([])
    config.eos_token_id = config.pad_token_id = tokenizer.eos_token_id
    Qwen3ForCausalLM(config).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    settings = {"model": tmp_path / "model", "dtype": weights, "weights": weights}
    unbroken = peak(tmp_path / "printed", *words(tmp_path / "unbroken", steps=2, **settings))
    peak(tmp_path / "printed", *words(tmp_path / "resumed", steps=1, **settings))
    resumed = peak(tmp_path / "printed", *words(tmp_path / "resumed", steps=2, **settings))
    print(
        f"{weights}: {unbroken / 2**20:.0f} MiB unbroken, {resumed / 2**20:.0f} MiB resumed: {resumed / unbroken:.3f}"
    )
    assert resumed < 1.05 * unbroken
