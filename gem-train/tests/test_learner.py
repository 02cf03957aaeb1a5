"""An update compared with one written out by hand, and what must not change it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from gem_train.algorithms.base import Algorithm, Loss, Scores, TokenTerms
from gem_train.algorithms.credit import Credit
from gem_train.algorithms.rebn import ReBN, ReBNSettings
from gem_train.algorithms.reinforce import Reinforce
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.batch import Batch, TokenSequence
from gem_train.config.sections import OptimConfig
from gem_train.learning.learner import Learner
from gem_train.learning.packing import pack
from gem_train.learning.scoring import score_tokens
from gem_train.models.tiny import tiny_model, tiny_tokenizer

ALGORITHM = ReBN(ReBNSettings(gamma=0.9))
OPTIM = OptimConfig(lr=1e-3, entropy=0.05, epochs=2, minibatches=2, micro_tokens=500)


@pytest.fixture
def model() -> PreTrainedModel:
    return tiny_model(tiny_tokenizer([]), seed=0).eval()


@pytest.fixture
def batch(model: PreTrainedModel) -> Batch:
    """Twelve sequences of random ids, two turns each, with log-probabilities a little off the model's own."""
    rng = np.random.default_rng(0)
    sequences = []
    for index in range(12):
        length = int(rng.integers(8, 24))
        turn = np.full(length, -1)
        turn[2:4], turn[6:8] = 2 * index, 2 * index + 1
        ids = rng.integers(4, 256, length)
        sequences.append(TokenSequence(ids, turn >= 0, np.zeros(length, np.float32), turn))
    with torch.no_grad():
        for index, sequence in enumerate(sequences):
            logprobs = np.zeros(len(sequence), np.float32)
            own = score_tokens(model, *pack([sequence], 64), 1.0).logprobs.numpy()
            logprobs[sequence.sampled] = own + rng.normal(scale=0.05, size=len(own))
            sequences[index] = replace(sequence, logprobs=logprobs)
    return Batch.of(sequences, rng.normal(size=24).astype(np.float32), np.repeat(np.arange(12), 2))


def weights_after(model: PreTrainedModel, batch: Batch, optim: OptimConfig, scores: Scores | None = None):
    learner = Learner(model, optim, steps=1, temperature=1.0, seed=7)
    credit = ALGORITHM.credit(batch, scores or Scores())
    metrics = learner.update(batch, scores or Scores(), credit, ALGORITHM.loss)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]), metrics


def fresh(model: PreTrainedModel) -> PreTrainedModel:
    copy = tiny_model(tiny_tokenizer([]), seed=0).eval()
    copy.load_state_dict(model.state_dict())
    return copy


def test_an_update_follows_the_formula(model: PreTrainedModel, batch: Batch):
    """One minibatch, one epoch: the loss written out token by token over unpacked sequences, and a plain AdamW."""
    optim = OptimConfig(lr=1e-3, entropy=0.05, epochs=1, minibatches=1, micro_tokens=500)
    by_hand = fresh(model)
    credit = ALGORITHM.credit(batch, Scores())
    optimizer = torch.optim.AdamW(by_hand.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.0)
    losses = []
    for sequence in batch.sequences:
        logits = by_hand(input_ids=torch.from_numpy(sequence.ids)[None]).logits[0]
        for position in np.flatnonzero(sequence.sampled):
            logprobs = logits[position - 1].log_softmax(-1)
            ratio = (logprobs[sequence.ids[position]] - float(sequence.logprobs[position])).exp()
            advantage = float(credit.advantages[sequence.turn[position]])
            surrogate = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            losses.append(-surrogate + 0.05 * (logprobs.exp() * logprobs).sum())
    torch.stack(losses).mean().backward()
    norm = torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
    optimizer.step()
    expected = torch.cat([parameter.detach().flatten() for parameter in by_hand.parameters()])
    found, metrics = weights_after(model, batch, optim)
    # Adam divides by the gradient's size, so rounding weighs most where the gradient is nearly nothing.
    assert (found - expected).abs().mean() < 1e-6
    assert metrics["grad_norm"] == pytest.approx(float(norm), rel=1e-4)


@pytest.mark.parametrize("tokens", [1, 64])
def test_the_size_of_micro_batches_does_not_change_the_update(model: PreTrainedModel, batch: Batch, tokens: int):
    whole, _ = weights_after(fresh(model), batch, OPTIM)
    parts, _ = weights_after(fresh(model), batch, OPTIM.model_copy(update={"micro_tokens": tokens}))
    assert (whole - parts).abs().mean() < 1e-6


REJECTING = {"old_logprobs": "learner", "importance_cap": 1.08, "importance_beyond": "reject"}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"normaliser": "constant", "constant_length": 10},
        {"normaliser": "episode"},
        {"ratio": "action", "clip": 0.02},
        {"ratio": "action", "clip": 0.02, "actions": "episode", "normaliser": "episode"},
        {"policy_loss": "cispo"},
        {**REJECTING, "importance": "action"},
        {**REJECTING, "importance": "geometric", "actions": "episode"},
    ],
    ids=str,
)
def test_the_parts_of_a_minibatch_do_not_change_its_gradient(model: PreTrainedModel, batch: Batch, settings: dict):
    """Turns of very unequal length, so that a mean of the parts' means would be another gradient."""
    algorithm = ReBN(ReBNSettings.model_validate(settings))
    long = np.arange(len(batch.sequences[0])) > 1
    unequal = replace(batch.sequences[0], sampled=long, turn=np.where(long, 0, -1))
    batch = algorithm.prepare(replace(batch, sequences=(unequal, *batch.sequences[1:])))

    def gradient(tokens: int) -> torch.Tensor:
        own = fresh(model)
        optim = OPTIM.model_copy(update={"minibatches": 1, "epochs": 1, "grad_clip": 1e9, "micro_tokens": tokens})
        learner = Learner(own, optim, steps=1, temperature=1.0, seed=7)
        scores = learner.score(batch, algorithm.needs)
        found = learner.update(batch, scores, algorithm.credit(batch, scores), algorithm.loss)
        assert 0 < found.get("importance_rejected", 0.5) < 1
        return torch.cat([parameter.grad.flatten() for parameter in own.parameters() if parameter.grad is not None])

    whole = gradient(500)
    for tokens in (8, 64):
        parts = gradient(tokens)
        assert (whole - parts).abs().max() < 1e-6 * whole.abs().max()
    assert whole.abs().max() > 0


def test_layers_are_computed_again_where_the_settings_say_so_and_only_for_the_gradient(
    model: PreTrainedModel, batch: Batch
):
    def passes(*, again: bool) -> int:
        """Of the first layer, for scores, metrics and one update."""
        learner = Learner(
            one := fresh(model), OptimConfig(minibatches=1, checkpointing=again), steps=1, temperature=1.0, seed=7
        )
        made: list[None] = []
        one.model.layers[0].self_attn.register_forward_hook(lambda *_: made.append(None))
        scores = learner.score(batch, {"old_logprobs"})
        learner.update(batch, scores, ALGORITHM.credit(batch, scores), ALGORITHM.loss)
        return len(made)

    assert passes(again=True) == passes(again=False) + 1


def test_every_minibatch_of_every_epoch_is_an_update(model: PreTrainedModel, batch: Batch):
    once, _ = weights_after(fresh(model), batch, OPTIM.model_copy(update={"epochs": 1, "minibatches": 1}))
    often, _ = weights_after(fresh(model), batch, OPTIM)
    start = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    # Adam's first step moves each weight by about the learning rate; four updates move further than one.
    assert (often - start).abs().mean() > 1.5 * (once - start).abs().mean() > 0


def test_log_probabilities_of_the_learner_replace_those_of_the_engine(model: PreTrainedModel, batch: Batch):
    scores = Learner(model, OPTIM, steps=1, temperature=1.0, seed=7).score(batch, {"old_logprobs"})
    assert scores.old_logprobs is not None
    pairs = zip(batch.sequences, scores.old_logprobs, strict=True)
    replaced = replace(batch, sequences=tuple(replace(sequence, logprobs=old) for sequence, old in pairs))
    scored, _ = weights_after(fresh(model), batch, OPTIM, scores)
    expected, _ = weights_after(fresh(model), replaced, OPTIM)
    unscored, _ = weights_after(fresh(model), batch, OPTIM)
    assert torch.equal(scored, expected)
    assert not torch.equal(scored, unscored)


@pytest.mark.parametrize("tokens", [1, 50, 1000])
def test_scores_before_an_update_are_those_of_each_sequence_alone(model: PreTrainedModel, batch: Batch, tokens: int):
    optim = OPTIM.model_copy(update={"micro_tokens": tokens})
    found = Learner(model, optim, steps=1, temperature=0.7, seed=7).score(batch, {"old_logprobs"}).old_logprobs
    assert found is not None
    for sequence, logprobs in zip(batch.sequences, found, strict=True):
        with torch.no_grad():
            logits = model(input_ids=torch.from_numpy(sequence.ids)[None]).logits[0, :-1]
        expected = (logits / 0.7).log_softmax(-1).gather(-1, torch.from_numpy(sequence.ids)[1:, None])[:, 0].numpy()
        np.testing.assert_allclose(logprobs[1:], np.where(sequence.sampled[1:], expected, 0), atol=1e-5)


def test_schedules_are_linear_from_the_first_step_to_the_last(model: PreTrainedModel, batch: Batch):
    optim = OptimConfig(lr=1e-3, lr_end=1e-4, entropy=0.2, entropy_end=0.0, minibatches=1)
    learner = Learner(model, optim, steps=3, temperature=1.0, seed=0)
    seen: list[float] = []

    def loss(terms):
        seen.append(terms.entropy_weight)
        return ALGORITHM.loss(terms)

    credit = Credit(batch.rewards, batch.rewards)
    rates = [learner.update(batch, Scores(), credit, loss)["lr"] for _ in range(3)]
    assert rates == pytest.approx([1e-3, 5.5e-4, 1e-4])
    assert seen == pytest.approx([0.2, 0.1, 0.0])


@pytest.mark.parametrize("algorithm", [ALGORITHM, Reinforce(AlgorithmSettings(gamma=0.9))])
def test_a_batch_without_signal_changes_no_weight(model: PreTrainedModel, batch: Batch, algorithm: Algorithm):
    """Neither the entropy bonus nor weight decay nor the momentum of earlier batches does."""
    learner = Learner(model, OPTIM.model_copy(update={"weight_decay": 0.1}), steps=4, temperature=1.0, seed=7)
    learner.update(batch, Scores(), algorithm.credit(batch, Scores()), algorithm.loss)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    nothing = replace(batch, rewards=np.zeros_like(batch.rewards))
    metrics = learner.update(nothing, Scores(), algorithm.credit(nothing, Scores()), algorithm.loss)
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    assert (metrics["signal"], metrics["grad_norm"], learner.step) == (0.0, 0.0, 2)
    assert metrics["entropy"] > 0
    metrics = learner.update(batch, Scores(), algorithm.credit(batch, Scores()), algorithm.loss)
    assert metrics["signal"] == 1.0
    assert not all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


def test_a_batch_of_which_nothing_is_trained_on_is_reported_whole(model: PreTrainedModel, batch: Batch):
    unrewarded = replace(batch, rewards=np.zeros_like(batch.rewards))
    left_out = tuple(replace(each, sampled=np.zeros_like(each.sampled)) for each in batch.sequences)

    def metrics(batch: Batch) -> dict[str, float]:
        learner = Learner(fresh(model), OptimConfig(minibatches=1), steps=1, temperature=1.0, seed=7)
        return learner.update(batch, Scores(), ALGORITHM.credit(batch, Scores()), ALGORITHM.loss)

    whole, reported = metrics(unrewarded), metrics(replace(unrewarded, sequences=left_out))
    assert reported["entropy"] == pytest.approx(whole["entropy"], rel=1e-6)
    assert reported["kl"] == pytest.approx(whole["kl"], rel=1e-6)


def test_the_entropy_bonus_is_off_while_entropy_exceeds_its_first_value(model: PreTrainedModel, batch: Batch):
    learner = Learner(model, OPTIM, steps=4, temperature=1.0, seed=0)
    weights: list[float] = []
    entropies = iter([1.0, 1.2, 0.9, 0.9])

    def loss(terms: TokenTerms) -> Loss:
        weights.append(terms.entropy_weight)
        found = ALGORITHM.loss(terms)
        return replace(found, metrics={**found.metrics, "entropy": torch.tensor(entropy * len(terms.logprobs))})

    for entropy in entropies:  # noqa: B007 - loss() reads it
        learner.update(batch, Scores(), Credit(batch.rewards, batch.rewards), loss)
        resumed = Learner(model, OPTIM, steps=4, temperature=1.0, seed=0)
        resumed.restore(learner.state())
        learner = resumed
    assert [weight > 0 for weight in weights[::4]] == [True, True, False, True]


def test_a_batch_moves_the_model_at_most_by_max_kl(model: PreTrainedModel, batch: Batch):
    """Minibatches beyond it are left out, and the learning rate of the next batch is smaller."""
    start = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    credit = ALGORITHM.credit(batch, Scores())
    moved: dict[float, float] = {}
    for limit, rates in {0.01: [0.001, 0.0005], 1e9: [0.001, 0.0012]}.items():
        learner_model = fresh(model)
        optim = OPTIM.model_copy(update={"lr": 1e-2, "minibatches": 4, "max_kl": limit})
        learner = Learner(learner_model, optim, steps=2, temperature=1.0, seed=7)
        assert learner.update(batch, Scores(), credit, ALGORITHM.loss)["lr"] == pytest.approx(rates[0])
        after = torch.cat([parameter.detach().flatten() for parameter in learner_model.parameters()])
        moved[limit] = float((after - start).abs().mean())
        resumed = Learner(learner_model, optim, steps=2, temperature=1.0, seed=7)
        resumed.restore(learner.state())
        assert resumed.update(batch, Scores(), credit, ALGORITHM.loss)["lr"] == pytest.approx(rates[1])
    assert 0 < moved[0.01] < 0.7 * moved[1e9]


def test_the_minibatch_that_is_too_far_is_judged_by_itself_and_the_norm_is_the_mean_of_the_others(
    model: PreTrainedModel, batch: Batch, monkeypatch: pytest.MonkeyPatch
):
    learner = Learner(model, OPTIM.model_copy(update={"max_kl": 0.1}), steps=1, temperature=1.0, seed=0)
    divergences = iter([0.0, 0.05, 0.15, 0.0])  # of which the third is beyond the limit, and their mean is not
    norms: list[float] = []
    make_step = learner._updates.step

    def loss(terms: TokenTerms) -> Loss:
        found = ALGORITHM.loss(terms)
        return replace(found, metrics={**found.metrics, "kl": torch.tensor(next(divergences) * len(terms.logprobs))})

    monkeypatch.setattr(learner._updates, "step", lambda lr: norms.append(make_step(lr)) or norms[-1])
    metrics = learner.update(batch, Scores(), Credit(batch.rewards, batch.rewards), loss)
    assert len(norms) == 2
    assert metrics["grad_norm"] == pytest.approx(np.mean(norms))


def test_the_learning_rate_grows_back_to_its_setting_and_no_further(model: PreTrainedModel, batch: Batch):
    optim = OPTIM.model_copy(update={"max_kl": 1e9})
    learner = Learner(model, optim, steps=5, temperature=1.0, seed=7)
    learner.restore({**learner.state(), "scale": 0.8})
    credit = ALGORITHM.credit(batch, Scores())
    nothing = Credit(credit.returns, np.zeros_like(credit.advantages))  # changes no weight, so it says nothing
    given = credit, nothing, credit, credit, credit
    rates = [learner.update(batch, Scores(), each, ALGORITHM.loss)["lr"] for each in given]
    assert rates == pytest.approx([8e-4, 9.6e-4, 9.6e-4, 1e-3, 1e-3])


def test_the_learning_rate_falls_to_a_hundredth_of_its_setting_and_no_further(model: PreTrainedModel, batch: Batch):
    learner = Learner(model, OPTIM.model_copy(update={"max_kl": 1e-9}), steps=4, temperature=1.0, seed=7)
    learner.restore({**learner.state(), "scale": 0.03})
    credit = ALGORITHM.credit(batch, Scores())
    rates = [learner.update(batch, Scores(), credit, ALGORITHM.loss)["lr"] for _ in range(4)]
    assert rates == pytest.approx([3e-5, 1.5e-5, 1e-5, 1e-5])


def test_each_step_has_minibatches_of_its_own_and_leaves_gradients_that_can_be_freed(
    model: PreTrainedModel, batch: Batch
):
    learner = Learner(model, OPTIM, steps=2, temperature=1.0, seed=7)
    seen: set[tuple[float, ...]] = set()

    def loss(terms: TokenTerms) -> Loss:
        seen.add(tuple(terms.engine_logprobs.tolist()))
        return ALGORITHM.loss(terms)

    for _ in range(2):
        learner.update(batch, Scores(), Credit(batch.rewards, batch.rewards), loss)
    assert len(seen) == 2 * OPTIM.epochs * OPTIM.minibatches
    learner.free_gradients()
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_minibatch_of_which_every_token_was_rejected_changes_nothing(model: PreTrainedModel, batch: Batch):
    """Adam's moments from the minibatch before would go on moving the weights."""
    algorithm = Reinforce(AlgorithmSettings(old_logprobs="learner", importance_cap=2.0, importance_beyond="reject"))
    learner = Learner(model, OPTIM, steps=2, temperature=1.0, seed=7)
    norms: list[float] = []
    for scale in (1, 100):
        far = tuple(replace(each, logprobs=(each.logprobs * scale).astype(np.float32)) for each in batch.sequences)
        given = replace(batch, sequences=far)
        scores = learner.score(given, algorithm.needs)
        before = [parameter.detach().clone() for parameter in model.parameters()]
        metrics = learner.update(given, scores, algorithm.credit(given, scores), algorithm.loss)
        norms.append(metrics["grad_norm"])
        assert (metrics["importance_rejected"] == 1) == (scale > 1)
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))
    assert norms[0] > norms[1] == 0
