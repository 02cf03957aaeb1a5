"""What the learner computes for an algorithm before the weights change, and what follows from it."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from gem_train.algorithms.actions import leave_out
from gem_train.algorithms.base import Algorithm, Scores
from gem_train.algorithms.credit import Credit
from gem_train.algorithms.grpo import GRPO, GRPOSettings
from gem_train.algorithms.ppo import PPO, PPOSettings
from gem_train.algorithms.rebn import ReBN, ReBNSettings
from gem_train.algorithms.reinforce import Reinforce
from gem_train.algorithms.settings import AlgorithmSettings, CriticSettings
from gem_train.batch import Batch, TokenSequence
from gem_train.config.sections import OptimConfig, UpdateConfig
from gem_train.learning.critic import Critic
from gem_train.learning.learner import Learner
from gem_train.learning.token_table import TokenTable
from gem_train.learning.updates import minibatches
from gem_train.models.tiny import tiny_model, tiny_tokenizer

OPTIM = OptimConfig(lr=3e-3, minibatches=2, micro_tokens=64)


@pytest.fixture
def batch() -> Batch:
    """Eight sequences of random ids, two turns each."""
    rng = np.random.default_rng(0)
    sequences = []
    for index in range(8):
        turn = np.full(int(rng.integers(8, 20)), -1)
        turn[2:4], turn[6:8] = 2 * index, 2 * index + 1
        ids = rng.integers(4, 256, len(turn))
        logprobs = np.where(turn >= 0, rng.normal(-5, 1, len(turn)), 0).astype(np.float32)
        sequences.append(TokenSequence(ids, turn >= 0, logprobs, turn))
    return Batch.of(sequences, rng.normal(size=16).astype(np.float32), np.repeat(np.arange(8), 2))


def learner(algorithm: Algorithm, *, temperature: float = 1.0, dtype: str = "float32", **optim: Any) -> Learner:
    model = tiny_model(tiny_tokenizer([]), seed=0).eval()
    if dtype == "bfloat16":
        model.forward = torch.autocast("cpu", torch.bfloat16)(model.forward)
    critic = algorithm.critic and Critic(model, algorithm.critic, UpdateConfig(micro_tokens=64), seed=0)
    config = OPTIM.model_copy(update=optim)
    return Learner(model, config, steps=4, temperature=temperature, seed=7, critic=critic)


def step(learner: Learner, algorithm: Algorithm, batch: Batch) -> dict[str, float]:
    prepared = algorithm.prepare(batch)
    scores = learner.score(prepared, algorithm.needs)
    return learner.update(prepared, scores, algorithm.credit(prepared, scores), algorithm.loss)


def weights(model: PreTrainedModel) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def at_sampled(model: PreTrainedModel, sequence: TokenSequence, temperature: float) -> np.ndarray:
    """The log-probabilities of the sampled ids, computed in the plainest way."""
    with torch.no_grad():
        logits = model(input_ids=torch.from_numpy(sequence.ids)[None]).logits[0] / temperature
    at = np.flatnonzero(sequence.sampled)
    return logits.log_softmax(-1)[at - 1, sequence.ids[at]].numpy()


@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_log_probabilities_are_those_at_the_temperature_of_sampling(batch: Batch, temperature: float):
    made = learner(ReBN(ReBNSettings()), temperature=temperature)
    old = made.score(batch, {"old_logprobs"}).old_logprobs
    assert old is not None
    for sequence, found in zip(batch.sequences, old, strict=True):
        np.testing.assert_allclose(found[sequence.sampled], at_sampled(made.model, sequence, temperature), atol=1e-5)


def test_log_probabilities_are_computed_anew_for_every_batch(batch: Batch):
    algorithm = ReBN(ReBNSettings(old_logprobs="learner"))
    made = learner(algorithm)
    for _ in range(2):
        # A ratio that started from stale ones would differ from 1, and so would the divergence from 0.
        assert step(made, algorithm, batch)["signal"] == 1
        first = replace(made.score(batch, {"old_logprobs"}))
        assert first.old_logprobs is not None
        for sequence, found in zip(batch.sequences, first.old_logprobs, strict=True):
            np.testing.assert_allclose(found[sequence.sampled], at_sampled(made.model, sequence, 1.0), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_reference_is_the_model_before_its_first_update_also_after_a_resume(batch: Batch, dtype: str):
    algorithm = ReBN(ReBNSettings(kl=0.1))
    made = learner(algorithm, dtype=dtype)
    first = made.score(batch, {"reference_logprobs", "old_logprobs"})
    assert first.reference_logprobs is not None
    assert first.old_logprobs is not None
    assert all(map(np.array_equal, first.reference_logprobs, first.old_logprobs))
    for _ in range(2):
        kl = step(made, algorithm, batch)["kl_reference"]
    assert kl > 1e-3
    own = weights(made.model)
    resumed = learner(algorithm, dtype=dtype)
    resumed.model.load_state_dict(made.model.state_dict())
    resumed.restore(deepcopy(made.state()))
    for each in (made, resumed):
        later = each.score(batch, {"reference_logprobs", "old_logprobs"})
        assert later.reference_logprobs is not None
        assert later.old_logprobs is not None
        assert all(map(np.array_equal, later.reference_logprobs, first.reference_logprobs))
        assert not any(map(np.array_equal, later.reference_logprobs, later.old_logprobs))
    assert torch.equal(weights(made.model), own)


def test_the_divergence_from_the_reference_holds_the_model_back(batch: Batch):
    moved = {}
    for kl in (0.0, 10.0):
        algorithm = ReBN(ReBNSettings(kl=kl, kl_estimator="k2"))
        made = learner(algorithm, epochs=8)
        reference = made.score(batch, {"old_logprobs"}).old_logprobs
        step(made, algorithm, batch)
        now = made.score(batch, {"old_logprobs"}).old_logprobs
        assert reference is not None
        assert now is not None
        moved[kl] = np.mean([np.square(a - b).sum() for a, b in zip(reference, now, strict=True)])
    assert moved[10.0] < 0.5 * moved[0.0]


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_the_divergence_of_a_turn_is_subtracted_from_its_reward(batch: Batch, estimator):
    algorithm = ReBN(ReBNSettings(kl=0.5, kl_in="reward", kl_estimator=estimator))
    rng = np.random.default_rng(1)
    reference = tuple(each.logprobs + rng.normal(size=len(each)).astype(np.float32) for each in batch.sequences)
    expected = batch.rewards.astype(float)
    for sequence, other in zip(batch.sequences, reference, strict=True):
        for at in np.flatnonzero(sequence.sampled):
            d = float(other[at]) - float(sequence.logprobs[at])
            expected[sequence.turn[at]] -= 0.5 * {"k1": -d, "k2": d * d / 2, "k3": np.exp(d) - 1 - d}[estimator]
    found = algorithm.rewards(batch, Scores(reference_logprobs=reference))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    in_loss = ReBN(ReBNSettings(kl=0.5, kl_estimator=estimator))
    assert in_loss.rewards(batch, Scores(reference_logprobs=reference)) is batch.rewards


@pytest.mark.parametrize("old", ["engine", "learner"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [(Reinforce, AlgorithmSettings), (ReBN, ReBNSettings), (GRPO, GRPOSettings), (PPO, PPOSettings)],
)
def test_every_algorithm_gives_credit_for_rewards_less_the_divergence(batch: Batch, kind: Any, settings: Any, old: str):
    """It is that of the model which the probability ratio starts from: the engine's, or by choice the learner's."""
    rng = np.random.default_rng(1)

    def noise() -> tuple[np.ndarray, ...]:
        return tuple(each.logprobs + rng.normal(size=len(each)).astype(np.float32) for each in batch.sequences)

    values = rng.normal(size=16).astype(np.float32)
    batch = replace(batch, episodes=replace(batch.episodes, group=np.arange(8) // 4))
    scores = Scores(noise() if old == "learner" else None, noise(), values)
    own = scores.old_logprobs or [each.logprobs for each in batch.sequences]
    assert scores.reference_logprobs is not None
    less = batch.rewards.astype(float)
    for sequence, mine, other in zip(batch.sequences, own, scores.reference_logprobs, strict=True):
        for at in np.flatnonzero(sequence.sampled):
            less[sequence.turn[at]] -= 0.5 * (float(mine[at]) - float(other[at]))
    penalised = kind(settings(kl=0.5, kl_in="reward", kl_estimator="k1", old_logprobs=old))
    plain = kind(settings(old_logprobs=old))

    found = penalised.credit(batch, scores)
    expected = plain.credit(replace(batch, rewards=less.astype(np.float32)), scores)

    np.testing.assert_allclose(found.advantages, expected.advantages, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.returns, expected.returns, rtol=1e-4, atol=1e-5)
    assert np.abs(found.advantages - plain.credit(batch, scores).advantages).max() > 0.1


def test_a_batch_of_which_every_token_is_rejected_changes_no_weight(batch: Batch):
    rejecting = {"old_logprobs": "learner", "importance_cap": 1.0001, "importance_beyond": "reject"}
    algorithm = ReBN(ReBNSettings.model_validate(rejecting))
    made = learner(algorithm)
    before = weights(made.model)
    assert step(made, algorithm, batch)["importance_rejected"] == 1
    assert torch.equal(weights(made.model), before)


def test_importance_weights_change_the_update_if_engine_and_learner_differ(batch: Batch):
    found = {}
    for name, cap in {"off": None, "on": 2.0}.items():
        algorithm = ReBN(ReBNSettings(old_logprobs="learner", importance_cap=cap))
        made = learner(algorithm)
        found[name] = step(made, algorithm, batch), weights(made.model)
    assert found["on"][0]["importance_capped"] > 0
    assert 0 < found["on"][0]["importance_weight"] < 2
    assert (found["on"][1] - found["off"][1]).abs().max() > 1e-4


def test_replies_that_are_masked_leave_no_trace_in_the_update(batch: Batch):
    """As if their ids were a prompt's: neither in the gradient nor in what it is divided by."""
    cut = np.arange(16) % 3 == 0
    algorithm = ReBN(ReBNSettings(cut_replies="mask"))
    masked, by_hand = learner(algorithm), learner(algorithm)
    metrics = step(masked, algorithm, replace(batch, cut=cut))
    prepared = algorithm.prepare(replace(batch, cut=cut))
    credit = algorithm.credit(prepared, Scores())
    sequences = [
        replace(each, sampled=each.sampled & ~cut[each.turn], turn=np.where(cut[each.turn], -1, each.turn))
        for each in batch.sequences
    ]
    by_hand.update(replace(batch, sequences=tuple(sequences)), Scores(), credit, algorithm.loss)
    assert torch.equal(weights(masked.model), weights(by_hand.model))
    assert metrics["signal"] == 1


@pytest.mark.parametrize("cut_replies", ["mask", "truncate"])
def test_a_batch_of_which_every_reply_was_cut_is_reported_and_changes_nothing(batch: Batch, cut_replies):
    algorithm = ReBN(ReBNSettings(cut_replies=cut_replies, old_logprobs="learner"))
    made = learner(algorithm)
    before = weights(made.model)
    metrics = step(made, algorithm, replace(batch, cut=np.ones(16, np.bool_)))
    assert torch.equal(weights(made.model), before)
    assert (metrics["signal"], made.step) == (0, 1)
    assert metrics["entropy"] > 0
    assert abs(metrics["kl"]) < 10


def test_the_tokens_of_an_episode_share_its_weight_equally_whatever_sequence_they_are_in(batch: Batch):
    """Pairs of sequences as segments of one episode, with a reply that is not trained."""
    segments = replace(batch, episode=np.arange(16) // 4)
    prepared = leave_out(segments, np.arange(16) == 3)
    credit = Credit(batch.rewards, batch.rewards)
    shares = TokenTable.of(prepared, Scores(), credit, 0).columns["episode_share"]
    for episode in range(4):
        pair = [(shares[at], prepared.sequences[at].sampled) for at in (2 * episode, 2 * episode + 1)]
        found = np.concatenate([share[sampled] for share, sampled in pair])
        np.testing.assert_allclose(found, 1 / (6 if episode == 0 else 8))


@pytest.mark.parametrize("step_of_run", [0, 3])
def test_the_learning_rate_of_the_schedule_is_that_of_the_update(batch: Batch, step_of_run: int):
    """Adam's first step moves a weight by the learning rate."""
    algorithm = ReBN(ReBNSettings())
    made = learner(algorithm, lr=1e-3, lr_end=1e-5, minibatches=1)
    made.step = step_of_run
    before = weights(made.model)
    step(made, algorithm, batch)
    expected = {0: 1e-3, 3: 1e-5}[step_of_run]
    assert float((weights(made.model) - before).abs().max()) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("step_of_run", "share"), [(0, 1 / 3), (1, 2 / 3), (2, 1.0), (3, 1.0)])
def test_the_learning_rate_rises_linearly_over_the_steps_of_its_warm_up(batch: Batch, step_of_run: int, share: float):
    algorithm = ReBN(ReBNSettings())
    made = learner(algorithm, lr=1e-3, warmup_steps=3, minibatches=1)
    made.step = step_of_run
    before = weights(made.model)
    assert step(made, algorithm, batch)["lr"] == pytest.approx(share * 1e-3)
    assert float((weights(made.model) - before).abs().max()) == pytest.approx(share * 1e-3, rel=0.05)


@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_the_gap_of_the_engine_is_that_of_the_tokens_of_the_newest_weights(batch: Batch, temperature: float):
    made = learner(ReBN(ReBNSettings()), temperature=temperature, minibatches=1)
    gaps = [
        np.abs(at_sampled(made.model, each, temperature) - each.logprobs[each.sampled]).tolist()
        for each in batch.sequences
    ]
    old = replace(batch, version=np.where(np.arange(16) < 8, 5, 3))
    made.step = 5
    metrics = step(made, ReBN(ReBNSettings()), old)
    newest = [gap for each in gaps[:4] for gap in each]
    assert metrics["engine_gap"] == pytest.approx(np.mean(newest), rel=1e-4)
    assert metrics["engine_gap_max"] == pytest.approx(max(newest), rel=1e-4)
    assert "engine_gap" not in step(made, ReBN(ReBNSettings()), replace(batch, version=np.full(16, -2)))


def test_the_gap_is_that_of_the_first_minibatch_from_the_engine_if_no_version_is_known(batch: Batch):
    algorithm = ReBN(ReBNSettings(old_logprobs="learner"))
    made = learner(algorithm, minibatches=2, epochs=2, lr=3e-2)
    first = next(minibatches(np.arange(8), 2, 2, 7, "minibatches", 0))
    each = [batch.sequences[index] for index in first]
    gaps = np.concatenate([np.abs(at_sampled(made.model, one, 1.0) - one.logprobs[one.sampled]) for one in each])
    metrics = step(made, algorithm, batch)
    assert metrics["engine_gap"] == pytest.approx(gaps.mean(), rel=1e-4)
    assert metrics["engine_gap_max"] == pytest.approx(gaps.max(), rel=1e-4)


@pytest.mark.parametrize("signal", [True, False])
def test_ppo_learns_with_its_critic_and_resumes_with_it(batch: Batch, signal: bool):
    """Without a signal the critic learns, and the policy stays as it is."""
    algorithm = PPO(PPOSettings(critic=CriticSettings(lr=1e-2)))
    rewards = batch.rewards if signal else np.tile(np.array([0, 1], np.float32), 8)
    batch = replace(batch, rewards=rewards)
    unbroken = learner(algorithm)
    before = weights(unbroken.model)
    assert step(unbroken, algorithm, batch)["signal"] == signal
    assert torch.equal(weights(unbroken.model), before) is not signal
    resumed = learner(algorithm)
    resumed.model.load_state_dict(unbroken.model.state_dict())
    resumed.restore(deepcopy(unbroken.state()))
    first, second = (step(each, algorithm, batch) for each in (unbroken, resumed))
    assert first == second
    assert first["explained_variance"] != 0
    assert torch.equal(weights(unbroken.model), weights(resumed.model))
