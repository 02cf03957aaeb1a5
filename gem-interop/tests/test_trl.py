"""Episodes in TRL's own GRPOTrainer: what is trained on is what was read and said, and nothing else."""

import pytest
import torch
from agreement import (
    Trained,
    assert_failed_episodes_are_left_out_of_their_groups,
    assert_returns_are_those_of_a_replay,
    assert_what_was_read_and_said_is_trained,
)
from datasets import Dataset
from samples import tiny_model, tokenizer
from trl import GRPOConfig, GRPOTrainer

from gem_interop.trl import Play

pytestmark = pytest.mark.filterwarnings("default")  # TRL's own
EPISODES, GROUP = 80, 4


class Watched(GRPOTrainer):
    """Keeps what the loss is computed from, and recomputes log-probabilities before the weights change."""

    def __init__(self, play, **settings):
        super().__init__(**settings)
        self.play, self.seen = play, []

    def _compute_loss(self, model, inputs):
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
        there = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
        for row in range(len(ids)):
            kept = ids[row][there[row].bool()]
            mask = inputs["tool_mask"][row][inputs["completion_mask"][row].bool()].tolist()
            with torch.no_grad():
                scores = model(kept[None]).logits[0, :-1].float() / self.args.temperature
            logprobs = scores.log_softmax(-1).gather(-1, kept[1:, None])[-len(mask) :, 0].tolist()
            self.seen.append(Trained(kept.tolist(), mask, logprobs, float(inputs["advantages"][row].reshape(-1)[0])))
        return super()._compute_loss(model, inputs)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    model = tiny_model()
    results = []

    class Kept(Play):
        def __call__(self, prompts, trainer):
            rows = super().__call__(prompts, trainer)
            results.extend(self.results)
            return rows

    play = Kept("interop_envs:Talk", max_new_tokens=6)
    rows = [{"prompt": f'{{"env": "interop_envs:Talk", "seed": {seed}}}'} for seed in range(EPISODES // GROUP)]
    trainer = Watched(
        play,
        model=model,
        processing_class=tokenizer(),
        args=GRPOConfig(
            output_dir=str(tmp_path_factory.mktemp("trl")),
            per_device_train_batch_size=EPISODES // 2,
            num_generations=GROUP,
            max_steps=2,
            learning_rate=1e-2,
            temperature=0.8,
            bf16=False,
            gradient_checkpointing=False,
            dataloader_pin_memory=False,
            report_to="none",
            save_strategy="no",
            shuffle_dataset=False,
        ),
        train_dataset=Dataset.from_list(rows),
        rollout_func=play,
        reward_funcs=play.reward,
    )
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    trainer.train()
    play.close()
    assert any(not torch.equal(before[name], tensor) for name, tensor in model.named_parameters())
    assert len(results) == len(trainer.seen) == EPISODES
    return trainer.seen, results


def test_what_was_read_and_said_is_trained_and_a_failed_episode_changes_nothing(trained):
    rows, results = trained
    pairs = assert_what_was_read_and_said_is_trained(rows, results)
    assert_failed_episodes_are_left_out_of_their_groups(pairs)

    used = [id(row) for row, _ in pairs]
    dropped = [row for row in rows if id(row) not in used]
    assert len(dropped) == sum(result.failure is not None for result in results) > 0
    assert {(sum(row.mask), row.advantage) for row in dropped} == {(0, 0.0)}


def test_returns_are_those_of_a_local_replay_and_groups_start_alike(trained):
    _, results = trained
    assert_returns_are_those_of_a_replay(results)
    assert [result.episode.seed for result in results] == [number // GROUP for number in range(EPISODES)]
