"""Returns and normalisation against brute force."""

import numpy as np
import pytest

from gem_train.algorithms.base import Scores
from gem_train.algorithms.credit import discounted_returns
from gem_train.algorithms.rebn import ReBN, ReBNSettings
from gem_train.batch import Batch


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


def rebn(rewards: list[float] | np.ndarray, episode: list[int] | np.ndarray, **settings) -> np.ndarray:
    batch = Batch.of((), np.array(rewards, np.float32), np.array(episode))
    algorithm = ReBN(ReBNSettings(**settings))
    return algorithm.credit(algorithm.prepare(batch), Scores()).advantages


@pytest.mark.parametrize("seed", range(10))
def test_advantages_of_rebn_have_mean_0_and_deviation_1(seed):
    rewards, episode = random_turns(seed)
    values = [
        sum(0.9 ** (k - t) * float(rewards[k]) for k in range(t, len(rewards)) if episode[k] == episode[t])
        for t in range(len(rewards))
    ]
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    expected = [(value - mean) / deviation for value in values]
    np.testing.assert_allclose(rebn(rewards, episode, gamma=0.9), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("value", [0.73, 0.1, -0.1, 0.3, 1e6])
def test_equal_returns_have_advantages_of_exactly_0(value):
    assert not rebn([value] * 1001, list(range(1001))).any()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([0.0] + [0.1] * 9, [0.0, 0.9]),
        ([0.1 * 9], [0.9]),
        ([0.3, -0.1, -0.2], [0.0]),
        ([1e-8 / 3] * 3, [1e-8]),
    ],
)
def test_equal_returns_by_two_routes_have_advantages_of_exactly_0(first, second):
    """The returns differ by rounding only, which no absolute epsilon can tell from small rewards."""
    rewards, episode = [*first, *second], [0] * len(first) + [1] * len(second)
    assert not rebn(rewards, episode, gamma=1.0, actions="episode").any()


@pytest.mark.parametrize(
    ("rewards", "episode", "alike"),
    [
        ([0, 0, -1, 0, 0, -1], [0, 0, 0, 1, 1, 1], True),
        ([0, 0, -1, 0, -1], [0, 0, 0, 1, 1], False),
        ([0, 1, 0, 0], [0, 0, 1, 1], False),
        ([0, 1, 0, 1, 0, 2], [0, 0, 1, 1, 2, 2], False),  # two of three
        ([0, 1], [0, 0], False),
    ],
)
def test_advantages_of_rebn_are_0_if_all_episodes_have_the_same_rewards(rewards, episode, alike):
    batch = Batch.of((), np.array(rewards, np.float32), np.array(episode))
    credit = ReBN(ReBNSettings(gamma=0.9)).credit(batch, Scores())
    assert bool(credit.advantages.any()) is not alike
