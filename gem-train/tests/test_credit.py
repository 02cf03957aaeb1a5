"""Returns and normalisation against brute force."""

import numpy as np
import pytest

from gem_train.algorithms.base import Scores
from gem_train.algorithms.rebn import ReBN
from gem_train.batch import Batch
from gem_train.credit import discounted_returns, normalised


def random_turns(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, size=rng.integers(1, 12))
    rewards = rng.normal(size=lengths.sum()).astype(np.float32)
    return rewards, np.repeat(np.arange(len(lengths)), lengths)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9, 1.0])
def test_returns_are_the_discounted_sums_of_later_rewards(seed, gamma):
    rewards, episode = random_turns(seed)
    expected = [
        sum(gamma ** (k - t) * float(rewards[k]) for k in range(t, len(rewards)) if episode[k] == episode[t])
        for t in range(len(rewards))
    ]
    np.testing.assert_allclose(discounted_returns(rewards, episode, gamma), expected, rtol=1e-5, atol=1e-6)


def test_a_later_episode_does_not_leak_into_an_earlier_one():
    returns = discounted_returns(np.array([0, 1, 0, 5], np.float32), np.array([0, 0, 1, 1]), 1.0)
    assert returns.tolist() == [1, 1, 5, 5]


@pytest.mark.parametrize("seed", range(10))
def test_normalised_returns_have_mean_0_and_deviation_1(seed):
    rewards, episode = random_turns(seed)
    values = discounted_returns(rewards, episode, 0.9)
    mean = sum(map(float, values)) / len(values)
    deviation = (sum((float(value) - mean) ** 2 for value in values) / len(values)) ** 0.5
    expected = [(float(value) - mean) / (deviation + 1e-8) for value in values]
    np.testing.assert_allclose(normalised(values), expected, rtol=1e-4, atol=1e-5)


def test_equal_returns_have_advantage_0():
    assert normalised(np.full(7, 0.73, np.float32)).tolist() == [0.0] * 7


@pytest.mark.parametrize("value", [0.1, -0.1, 0.3, 1e6])
def test_equal_returns_are_normalised_to_exactly_0(value):
    assert not normalised(np.full(1001, value, np.float32)).any()


@pytest.mark.parametrize(
    ("rewards", "episode", "alike"),
    [
        ([0, 0, -1, 0, 0, -1], [0, 0, 0, 1, 1, 1], True),
        ([0, 0, -1, 0, -1], [0, 0, 0, 1, 1], False),
        ([0, 1, 0, 0], [0, 0, 1, 1], False),
        ([0, 1], [0, 0], False),
    ],
)
def test_advantages_of_rebn_are_0_if_all_episodes_have_the_same_rewards(rewards, episode, alike):
    batch = Batch((), np.array(rewards, np.float32), np.array(episode))
    credit = ReBN(gamma=0.9, clip=0.2, old_logprobs="engine").credit(batch, Scores())
    assert bool(credit.advantages.any()) is not alike


def test_an_empty_batch_is_normalised_to_an_empty_one():
    assert len(normalised(np.zeros(0, np.float32))) == 0
