"""What TRL's settings do to episodes: the gradient, several passes, evaluation, resuming, and what is refused."""

import random
from types import SimpleNamespace

import pytest
import torch
from datasets import Dataset
from samples import tiny_model, tokenizer
from starting import EVALUATION, IDS, SEED, TRAINING
from trl import GRPOConfig, GRPOTrainer

from gem.errors import ConfigError
from gem_interop.playing import start_of
from gem_interop.trl import Play

pytestmark = pytest.mark.filterwarnings("default")  # TRL's own
GROUP = 4


class Kept(Play):
    """Keeps the results of every batch."""

    def __init__(self, **settings):
        super().__init__("interop_envs:Talk", max_new_tokens=6, **settings)
        self.batches = []

    def __call__(self, prompts, trainer):
        rows = super().__call__(prompts, trainer)
        self.batches.append(self.results)
        return rows

    def seeds(self):
        return [[result.episode.seed for result in batch] for batch in self.batches]


@pytest.fixture
def make_trainer(tmp_path):
    plays = []

    def make(play, processing_class=None, **settings):
        plays.append(play)
        plain = {
            "output_dir": str(tmp_path / "run"),
            "per_device_train_batch_size": 4 * GROUP,
            "per_device_eval_batch_size": 8,
            "num_generations": GROUP,
            "num_generations_eval": 1,
            "learning_rate": 1e-3,
            "bf16": False,
            "gradient_checkpointing": False,
            "dataloader_pin_memory": False,
            "report_to": "none",
            "save_strategy": "no",
        }
        return GRPOTrainer(
            model=tiny_model(),
            processing_class=processing_class or tokenizer(),
            args=GRPOConfig(**plain | settings),
            train_dataset=Dataset.from_list(play.rows(64)),
            eval_dataset=Dataset.from_list(play.rows(16, seed=1)),
            rollout_func=play,
            reward_funcs=play.reward,
        )

    yield make
    for play in plays:
        play.close()


def weights_of(trainer):
    return {name: tensor.detach().clone() for name, tensor in trainer.model.named_parameters()}


def test_the_gradient_is_that_of_what_was_said_weighed_by_the_advantages_of_the_episodes(make_trainer):
    play = Kept()
    # One step of length 1 along the gradient.
    plain = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0, "max_steps": 1}
    trainer = make_trainer(play, loss_type="grpo", scale_rewards="none", **plain)
    before = weights_of(trainer)
    trainer.train()

    model = tiny_model()
    [results] = play.batches
    assert any(result.failure for result in results)
    loss = torch.zeros(())
    for start in range(0, len(results), GROUP):
        group = [result for result in results[start : start + GROUP] if result.failure is None]
        mean = sum(result.total_reward for result in group) / max(1, len(group))
        for result in group:
            [segment] = result.segments
            ids = torch.tensor([[*segment.prompt_ids, *segment.response_ids]])
            scores = model(ids).logits[0, :-1].log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
            mask = torch.tensor(segment.mask)
            said = (scores[-len(mask) :] * mask).sum() / mask.sum()
            loss = loss - (result.total_reward - mean) * said / len(results)
    loss.backward()
    for name, parameter in model.named_parameters():
        moved = before[name] - trainer.model.get_parameter(name)
        assert torch.allclose(moved, parameter.grad, atol=1e-6, rtol=1e-3), name
    assert max(parameter.grad.abs().max() for parameter in model.parameters()) > 1e-3


def test_a_batch_is_learned_from_in_several_passes_and_parts_and_a_resumed_run_plays_the_same_episodes(make_trainer):
    several = {"per_device_train_batch_size": 8, "steps_per_generation": 2, "num_iterations": 2, "max_steps": 12}
    whole = Kept()
    trainer = make_trainer(whole, **several, save_strategy="steps", save_steps=8)
    trainer.train()
    # Four updates for each batch of sixteen.
    assert [len(batch) for batch in whole.batches] == [16, 16, 16]
    for seeds in whole.seeds():
        assert [seeds.count(seed) for seed in dict.fromkeys(seeds)] == [GROUP] * 4

    again = Kept()
    resumed = make_trainer(again, **several)
    resumed.train(resume_from_checkpoint=f"{trainer.args.output_dir}/checkpoint-8")
    assert again.seeds() == whole.seeds()[2:]
    for name, tensor in weights_of(resumed).items():
        assert torch.equal(tensor, trainer.model.get_parameter(name)), name


def test_evaluation_plays_the_episodes_of_its_own_dataset_once_and_reports_them(make_trainer):
    play = Kept()
    trainer = make_trainer(play)
    before = weights_of(trainer)
    metrics = trainer.evaluate()
    results = [result for batch in play.batches for result in batch]
    assert sorted({result.episode.seed for result in results}) == sorted(result.episode.seed for result in results)
    assert len(results) == 16
    kept = [[result for result in batch if result.failure is None] for batch in play.batches]
    assert metrics["eval_gem/failed"] == pytest.approx(1 - sum(map(len, kept)) / 16)
    rates = [sum(result.success for result in batch) / len(batch) for batch in kept]
    assert metrics["eval_gem/success"] == pytest.approx(sum(rates) / len(rates))
    assert all(torch.equal(before[name], tensor) for name, tensor in trainer.model.named_parameters())


def test_a_batch_of_failed_episodes_changes_nothing(make_trainer):
    fails = next(id for id in range(256) if ord(tokenizer().decode([id])) % 13 == 0)

    def generate(trainer, contexts, sessions):
        return [([fails, trainer.processing_class.eos_token_id], [0.0, 0.0])] * len(contexts)

    play = Kept(generate=generate)
    trainer = make_trainer(play, max_steps=2, entropy_coef=0.1, logging_steps=1)
    before = weights_of(trainer)
    trainer.train()
    assert all(result.failure for batch in play.batches for result in batch)
    assert all(torch.equal(before[name], tensor) for name, tensor in trainer.model.named_parameters())
    assert [line["gem/failed"] for line in trainer.state.log_history if "gem/failed" in line] == [1, 1]


def test_masking_truncated_completions_leaves_out_episodes_whose_last_reply_was_cut(make_trainer):
    [said], rng = tokenizer().encode("a"), random.Random(0)

    def generate(trainer, contexts, sessions):
        cut, ended = [said] * 6, [said, trainer.processing_class.eos_token_id]
        return [(ids, [0.0] * len(ids)) for ids in rng.choices([cut, ended], k=len(contexts))]

    play = Kept(generate=generate)
    trainer = make_trainer(play, max_steps=1, per_device_train_batch_size=8 * GROUP, mask_truncated_completions=True)
    compute, trained = trainer._compute_loss, []

    def watched(model, inputs):
        trained.append(int((inputs["completion_mask"] * inputs["tool_mask"]).sum()))
        return compute(model, inputs)

    trainer._compute_loss = watched
    trainer.train()
    kept = [result.episode.turns for result in play.results if result.failure is None]
    ended = [turns for turns in kept if turns[-1].completion.finish_reason == "stop"]
    assert 0 < len(ended) < len(kept)
    assert any(turn.completion.finish_reason == "length" for turns in ended for turn in turns)
    assert trained == [sum(len(turn.completion.ids) for turns in ended for turn in turns)]


def test_a_play_of_two_trainers_reads_with_the_tokenizer_of_each(make_trainer):
    play = Kept()
    make_trainer(play).evaluate()
    other = tokenizer()
    other.chat_template = "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"
    make_trainer(play, other).evaluate()
    turns = [result.episode.turns for result in play.results if result.failure is None]
    assert turns
    for first, *_ in turns:
        assert other.decode(first.completion.prompt_ids) == f"{first.observation}<|im_end|>"


@pytest.mark.parametrize(("max_context", "most"), [(None, 512), (4096, 512), (300, 300)])
def test_a_context_has_at_most_the_positions_of_the_model(make_trainer, max_context, most):
    seen = []

    def ends(trainer, contexts, sessions):
        seen.extend(len(ids) + session.max_tokens for ids, session in zip(contexts, sessions, strict=True))
        return [([258], [0.0])] * len(contexts)

    play = Play("core:Echo-v0", max_new_tokens=9999, max_context=max_context, generate=ends)
    play([row["prompt"] for row in play.rows(2)], make_trainer(play))
    assert set(seen) == {most}


@pytest.mark.parametrize(
    "settings",
    [{"top_p": 0.9}, {"generation_kwargs": {"top_k": 5}}, {"use_vllm": True}],
    ids=lambda each: next(iter(each)),
)
def test_a_setting_that_the_sampling_does_not_follow_is_refused(settings, tmp_path):
    trainer = SimpleNamespace(args=GRPOConfig(str(tmp_path), bf16=False, **settings))
    play = Kept()
    [name] = settings
    with pytest.raises(ConfigError, match=f"GRPOConfig sets {name}: leave that out"):
        play([row["prompt"] for row in play.rows(1)], trainer)


@pytest.mark.parametrize("prompt", ["What is 1 + 1?", [{"role": "user", "content": "?"}], '{"seed": 1}'])
def test_a_prompt_of_another_dataset_is_named(prompt, tmp_path):
    trainer = SimpleNamespace(args=GRPOConfig(str(tmp_path), bf16=False))
    with pytest.raises(ConfigError, match="made by the module's rows"):
        Kept()([prompt], trainer)


def test_the_starts_of_a_seed_are_those_of_every_framework_and_an_evaluation_has_others():
    for evaluation, expected in ((False, TRAINING), (True, EVALUATION)):
        made = Play(IDS).rows(3, SEED, evaluation=evaluation)
        assert [start_of(row["prompt"]) for row in made] == expected
