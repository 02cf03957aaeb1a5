"""The critic: which state it reads, how it learns, and what it keeps."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from gem_train.algorithms.actions import regroup
from gem_train.algorithms.settings import CriticSettings
from gem_train.batch import Batch, TokenSequence
from gem_train.config.sections import UpdateConfig
from gem_train.learning.critic import Critic, explained_variance, states, value_loss
from gem_train.models.tiny import tiny_model, tiny_tokenizer

TARGETS = np.array([1, -1, 2, 0.5], np.float32)


def sequence(turn: list[int], seed: int) -> TokenSequence:
    row = np.array(turn)
    ids = np.random.default_rng(seed).integers(4, 256, len(row))
    return TokenSequence(ids, row >= 0, np.zeros(len(row), np.float32), row)


@pytest.fixture
def batch() -> Batch:
    """Two episodes: three turns, the last in a segment of its own, and one turn."""
    turns = [[-1, -1, 0, 0, -1, 1, 1], [-1, -1, 2, 2], [-1, -1, -1, 3, 3]]
    sequences = [sequence(turn, seed) for seed, turn in enumerate(turns)]
    return Batch.of(sequences, np.zeros(4, np.float32), np.array([0, 0, 0, 1]))


def critic(**settings) -> Critic:
    policy = tiny_model(tiny_tokenizer([]), seed=0).eval()
    chosen = CriticSettings(**{"lr": 1e-2, "minibatches": 1, **settings})
    return Critic(policy, chosen, UpdateConfig(micro_tokens=16), seed=3)


@pytest.fixture(scope="module")
def trained() -> Critic:
    """A critic whose values differ from state to state."""
    made = critic(epochs=4)
    turns = [[-1, -1, 0, 0, -1, 1, 1], [-1, -1, 2, 2], [-1, -1, -1, 3, 3]]
    played = Batch.of([sequence(t, s) for s, t in enumerate(turns)], np.zeros(4, np.float32), np.array([0, 0, 0, 1]))
    made.update(played, TARGETS, np.zeros(4, np.float32), 0)
    return made


@pytest.mark.parametrize(
    ("actions", "places"),
    [
        ("turn", [{1: 0, 4: 1}, {1: 2}, {2: 3}]),
        ("token", [{1: 0, 2: 1, 4: 2, 5: 3}, {1: 4, 2: 5}, {2: 6, 3: 7}]),
        ("episode", [{1: 0}, {2: 1}]),
    ],
)
def test_the_state_before_an_action_is_the_id_before_its_first_one(batch: Batch, actions, places):
    found = states(regroup(batch, actions, "act", 1.0))
    marked = [np.flatnonzero(each.sampled).tolist() for each in found]
    assert marked == [list(place) for place in places]
    rows = [each.turn[each.sampled].tolist() for each in found]
    assert rows == [list(place.values()) for place in places]


def test_a_prompt_of_one_id_is_a_state_like_any_other():
    sequences = [sequence([-1, 0, 0], 0), sequence([-1, -1, 1], 1)]
    learner = critic()
    played = Batch.of(sequences, np.zeros(2, np.float32), np.array([0, 1]))
    learner.update(played, TARGETS[:2], learner.values(played), 0)
    network, _ = learner._built()
    with torch.no_grad():
        hidden = [network.body(torch.from_numpy(each.ids[: 1 + row])[None]) for row, each in enumerate(sequences)]
        expected = [network.head(each.last_hidden_state[0, -1]).item() for each in hidden]
    assert learner.values(played) == pytest.approx(expected, abs=1e-6)
    assert expected[0] != 0


def test_values_depend_on_all_that_was_read_before_the_turn_and_on_nothing_after(trained: Critic, batch: Batch):
    def changed(at: int) -> list[bool]:
        first = batch.sequences[0]
        ids = first.ids.copy()
        ids[at] = (ids[at] + 7) % 200 + 4
        other = trained.values(replace(batch, sequences=(replace(first, ids=ids), *batch.sequences[1:])))
        return (np.abs(other - trained.values(batch)) > 1e-6).tolist()

    assert changed(0) == [True, True, False, False]
    assert changed(1) == [True, True, False, False]  # the last prompt id of the first turn
    assert changed(2) == [False, True, False, False]  # its reply
    assert changed(4) == [False, True, False, False]  # the last prompt id of the second
    assert changed(5) == [False, False, False, False]


def test_values_of_two_states_of_one_episode_differ(trained: Critic, batch: Batch):
    first, second = trained.values(batch)[:2]
    assert abs(first - second) > 0.1


def test_values_begin_at_0_and_do_not_depend_on_packing(trained: Critic, batch: Batch):
    assert not critic().values(batch).any()
    alone = [trained.values(replace(batch, sequences=(each,))) for each in batch.sequences]
    np.testing.assert_allclose(sum(alone), trained.values(batch), atol=1e-5)


@pytest.mark.parametrize("micro_tokens", [4, 1000])
def test_the_first_gradient_is_that_of_the_mean_squared_error_over_unpacked_prefixes(batch: Batch, micro_tokens: int):
    """The head begins at 0, so only the head has a gradient: -R times the hidden state, on average over states."""
    policy = tiny_model(tiny_tokenizer([]), seed=0).eval()
    prefixes = [(0, 2), (0, 5), (1, 2), (2, 3)]  # of each turn: its sequence, and how many ids precede its first one
    with torch.no_grad():
        hidden = torch.stack(
            [
                policy.base_model(torch.from_numpy(batch.sequences[at].ids[:length])[None]).last_hidden_state[0, -1]
                for at, length in prefixes
            ]
        )
    weight = -(torch.from_numpy(TARGETS)[:, None] * hidden).mean(0)
    expected = (weight.square().sum() + float(TARGETS.mean()) ** 2).sqrt().item()
    made = Critic(policy, CriticSettings(minibatches=1), UpdateConfig(micro_tokens=micro_tokens), seed=3)
    metrics = made.update(batch, TARGETS, np.zeros(4, np.float32), 0)
    assert metrics["value_grad_norm"] == pytest.approx(expected, rel=1e-4)


def test_a_critic_learns_the_returns(batch: Batch):
    learner = critic()
    metrics = [learner.update(batch, TARGETS, learner.values(batch), step) for step in range(40)]
    assert metrics[0]["value_loss"] == pytest.approx(float((TARGETS**2).mean() / 2), rel=1e-4)
    assert metrics[0]["explained_variance"] == pytest.approx(0)
    assert metrics[-1]["value_loss"] < 0.1 * metrics[0]["value_loss"]
    assert metrics[-1]["explained_variance"] > 0.9
    assert np.abs(learner.values(batch) - TARGETS).max() < 0.5


def test_the_variance_that_values_explain_is_that_of_the_targets(batch: Batch):
    assert critic().update(batch, TARGETS, TARGETS / 2, 0)["explained_variance"] == pytest.approx(0.75)


def test_every_minibatch_has_a_gradient_of_its_own(batch: Batch):
    """Its norm is the same in a second epoch, as the weights hardly change."""
    zero = np.zeros(4, np.float32)
    once, twice = (critic(lr=1e-12, epochs=epochs).update(batch, TARGETS, zero, 0) for epochs in (1, 2))
    assert twice["value_grad_norm"] == pytest.approx(once["value_grad_norm"], rel=1e-3)


def test_the_order_of_minibatches_differs_from_step_to_step(batch: Batch):
    found: list[list[float]] = []
    for step in (0, 1):
        learner = critic(epochs=3, minibatches=3)
        learner.update(batch, TARGETS, np.zeros(4, np.float32), step)
        found.append(learner.values(batch).tolist())
    assert found[0] != found[1]


def test_states_without_an_action_are_valued_and_not_learned(batch: Batch):
    only = replace(batch, state_only=np.array([False, True, False, False]))
    learner = critic(lr=1e-9)
    loss = learner.update(only, TARGETS, np.zeros(4, np.float32), 0)["value_loss"]
    assert loss == pytest.approx((1 + 4 + 0.25) / 3 / 2, rel=1e-4)


def test_the_policy_is_not_changed_by_its_critic(batch: Batch):
    policy = tiny_model(tiny_tokenizer([]), seed=0).eval()
    before = [parameter.detach().clone() for parameter in policy.parameters()]
    learner = Critic(policy, CriticSettings(lr=1e-2), UpdateConfig(micro_tokens=16), seed=3)
    learner.update(batch, TARGETS, learner.values(batch), 0)
    assert all(torch.equal(old, new) for old, new in zip(before, policy.parameters(), strict=True))
    assert learner.values(batch).any()


def test_a_restored_critic_learns_on_as_if_nothing_happened(batch: Batch):
    unbroken, resumed = critic(minibatches=2), critic(minibatches=2)
    for step in range(4):
        if step == 2:
            resumed.restore(deepcopy(unbroken.state()))  # as a file does: tensors are not shared
        for each in (unbroken, resumed) if step >= 2 else (unbroken,):
            each.update(batch, TARGETS, each.values(batch), step)
    assert np.array_equal(unbroken.values(batch), resumed.values(batch))


@pytest.mark.parametrize(("clip", "expected"), [(None, 0.5 * 0.25), (0.2, 0.5 * 0.64), (2.0, 0.5 * 0.25)])
def test_a_clipped_value_is_not_rewarded_for_moving_further(clip, expected):
    """From 0 to 0.5 with the target 1: within a clip of 0.2 only 0.2 of it counts, and the gradient is 0."""
    value = torch.tensor([0.5], requires_grad=True)
    loss, outside = value_loss(value, torch.tensor([1.0]), torch.tensor([0.0]), clip)
    loss.sum().backward()
    assert loss.item() == pytest.approx(expected)
    assert (value.grad.item() == 0) == outside.item() == (clip == 0.2)


def test_the_clip_of_values_limits_a_batch(batch: Batch):
    free, clipped = critic(epochs=8), critic(epochs=8, clip=0.05)
    zero = np.zeros(4, np.float32)
    assert free.update(batch, TARGETS, zero, 0)["value_clip_fraction"] == 0
    assert 0 < clipped.update(batch, TARGETS, zero, 0)["value_clip_fraction"] <= 1
    assert np.abs(clipped.values(batch)).max() < 0.5 * np.abs(free.values(batch)).max()


def test_the_explained_variance_is_1_for_perfect_values_and_0_for_a_constant():
    assert explained_variance(TARGETS, TARGETS) == 1
    assert explained_variance(TARGETS, np.full(4, 0.3, np.float32)) == pytest.approx(0, abs=1e-6)
    assert explained_variance(np.zeros(4, np.float32), TARGETS) == 0


@pytest.mark.parametrize(
    "setting", [{"lr": 1e-3}, {"epochs": 4}, {"minibatches": 2}, {"clip": 0.01}, {"grad_clip": 0.1}]
)
def test_each_setting_changes_what_a_critic_learns(batch: Batch, setting: dict[str, float]):
    plain, other = critic(epochs=3), critic(**{"epochs": 3, **setting})
    for each in (plain, other):
        each.update(batch, TARGETS, np.zeros(4, np.float32), 0)
    assert np.abs(plain.values(batch) - other.values(batch)).max() > 1e-5  # Adam takes away most of a change of scale
