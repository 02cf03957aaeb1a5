"""Episodes in TRL's own GRPOTrainer: what is trained on is what was read and said, and nothing else."""

import pytest
import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl_samples import tiny_model, tokenizer

import gem
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
            with torch.no_grad():
                scores = model(kept[None]).logits[0, :-1].float() / self.args.temperature
            self.seen.append(
                {
                    "ids": kept.tolist(),
                    "mask": inputs["tool_mask"][row][inputs["completion_mask"][row].bool()].tolist(),
                    "logprobs": scores.log_softmax(-1).gather(-1, kept[1:, None])[:, 0],
                    "advantage": float(inputs["advantages"][row].reshape(-1)[0]),
                    "result": None,
                }
            )
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
    rows = [{"prompt": f'{{"id": "interop_envs:Talk", "seed": {seed}}}'} for seed in range(EPISODES // GROUP)]
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
    # TRL shuffles the rows of a batch before the loss.
    waiting = list(results)
    for row in trainer.seen:
        match = next((each for each in waiting if row["ids"] == all_ids(each)), None)
        if match is not None:
            waiting.remove(match)
            row["result"] = match
    assert all(each.failure is not None for each in waiting)
    return trainer.seen, results


def all_ids(result) -> list[int] | None:
    return [*result.segments[0].prompt_ids, *result.segments[0].response_ids] if result.segments else None


def test_it_trains_on_the_ids_that_were_read_and_masks_all_but_what_was_sampled(trained):
    seen, _ = trained
    assert len([row for row in seen if row["result"]]) >= 50
    for row in seen:
        if row["result"] is None:
            continue
        segment = row["result"].segments[0]
        assert row["mask"] == list(segment.mask)
        said = [id for turn in row["result"].episode.turns for id in turn.completion.ids]
        assert [id for id, mask in zip(segment.response_ids, row["mask"], strict=True) if mask] == said
        again = row["logprobs"][-len(segment.mask) :][torch.tensor(segment.mask).bool()]
        sampled = [value for value, mask in zip(segment.logprobs, segment.mask, strict=True) if mask]
        assert torch.allclose(again, torch.tensor(sampled), atol=2e-5, rtol=0)


def test_returns_are_those_of_a_local_replay_and_groups_start_alike(trained):
    _, results = trained
    for number, result in enumerate(results):
        assert result.episode.seed == number // GROUP
        if result.failure is not None:
            continue
        env = gem.make("interop_envs:Talk")
        env.reset(seed=result.episode.seed)
        steps = [env.step(turn.action) for turn in result.episode.turns]
        assert sum(step.reward for step in steps) == pytest.approx(result.total_reward)
        assert (steps[-1].done, steps[-1].info["success"]) == (True, result.success)


def test_an_episode_that_failed_changes_nothing(trained):
    seen, results = trained
    failed = [result for result in results if result.failure is not None]
    dropped = [row for row in seen if row["result"] is None]
    assert len(failed) == len(dropped) > 0
    assert {(sum(row["mask"]), row["advantage"]) for row in dropped} == {(0, 0.0)}
    # The others of a group are compared with each other alone.
    groups: dict[int, list[tuple[float, float]]] = {}
    for row in seen:
        if row["result"] is not None:
            groups.setdefault(row["result"].episode.seed, []).append((row["result"].total_reward, row["advantage"]))
    for group in groups.values():
        mean = sum(reward for reward, _ in group) / len(group)
        assert all((reward > mean) == (advantage > 1e-6) for reward, advantage in group if abs(reward - mean) > 1e-6)
