"""TRL's SFTTrainer and DPOTrainer train one epoch on what `gemx export` writes."""

import random

import pytest
from click.testing import CliRunner
from datasets import load_dataset
from samples import tiny_model, tokenizer
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

import gem
from gem.chat import ChatEncoder
from gem.cli.main import main
from gem.record import Recorder, read
from gem.rollout import rollout

pytestmark = pytest.mark.filterwarnings("default")  # TRL's own
SETTINGS = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 8,
    "learning_rate": 1e-2,
    "max_length": None,
    "bf16": False,
    "gradient_checkpointing": False,
    "dataloader_pin_memory": False,
    "report_to": "none",
    "save_strategy": "no",
    "logging_strategy": "no",
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Several attempts at each of 12 items; about one in ten has failed."""
    path = tmp_path_factory.mktemp("export") / "episodes.jsonl"
    rng = random.Random(0)
    with gem.make_vec("interop_envs:Talk", 1) as envs, Recorder(path) as recorder:
        for _ in recorder.record(rollout(lambda transcript: rng.choice("abcdefgh日") * 2, envs, range(12), 4)):
            pass
    assert any(record.failure for record in read(path))
    return path


@pytest.fixture
def rows(recording, tmp_path):
    def export(*arguments):
        out = tmp_path / "rows.jsonl"
        done = CliRunner().invoke(main, ["export", str(recording), "--out", str(out), *arguments])
        assert done.exit_code == 0, done.stderr
        return load_dataset("json", data_files=str(out), split="train", cache_dir=str(tmp_path / "cache"))

    return export


def test_conversations_become_the_ids_of_their_episodes_and_are_learned_from(recording, rows, tmp_path):
    data = rows("--format", "sft")
    encoder = ChatEncoder(tokenizer())
    expected = []
    for record in read(recording):
        if record.failure is None:
            said = encoder.as_sampled((turn.observation, turn.action) for turn in record.turns)
            ids = [id for completion in said for id in (*completion.prompt_ids, *completion.ids)]
            expected.append([*ids, *encoder.encode("\n")])
    trainer = SFTTrainer(
        model=tiny_model(),
        processing_class=tokenizer(),
        args=SFTConfig(output_dir=str(tmp_path), **SETTINGS),
        train_dataset=data,
    )
    assert [list(ids) for ids in trainer.train_dataset["input_ids"]] == expected

    before = trainer.evaluate(trainer.train_dataset)["eval_loss"]
    assert trainer.train().global_step == -(-len(expected) // 8)
    assert trainer.state.epoch == 1
    assert trainer.evaluate(trainer.train_dataset)["eval_loss"] < before - 0.1


def test_pairs_are_told_apart_after_an_epoch(rows, tmp_path):
    data = rows("--format", "dpo")
    trainer = DPOTrainer(
        model=tiny_model(),
        ref_model=tiny_model(),
        processing_class=tokenizer(),
        args=DPOConfig(output_dir=str(tmp_path), **SETTINGS),
        train_dataset=data,
    )
    for row, ids in zip(data, trainer.train_dataset, strict=True):
        prompt = tokenizer().apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
        assert tokenizer().decode(ids["prompt_ids"]) == prompt
        assert ids["chosen_ids"] != ids["rejected_ids"]

    before = trainer.evaluate(trainer.train_dataset)
    trainer.train()
    assert trainer.state.epoch == 1
    after = trainer.evaluate(trainer.train_dataset)
    assert after["eval_loss"] < before["eval_loss"]
    assert after["eval_rewards/margins"] > before["eval_rewards/margins"] == 0
