"""GAE and advantages within groups against brute force."""

from dataclasses import replace

import numpy as np
import pytest

from gem_train.algorithms.base import Scores
from gem_train.algorithms.credit import generalised_advantages
from gem_train.algorithms.grpo import GRPO, GRPOSettings
from gem_train.algorithms.ppo import PPO, PPOSettings
from gem_train.algorithms.rebn import ReBN, ReBNSettings
from gem_train.batch import Batch


def random_batch(seed: int, groups: int = 3, size: int = 4) -> Batch:
    """Episodes of unequal length in groups, in mixed order."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, groups * size)
    rewards = rng.normal(size=lengths.sum()).astype(np.float32)
    group = rng.permutation(np.repeat(np.arange(groups), size))
    return Batch.of((), rewards, np.repeat(np.arange(len(lengths)), lengths), group)


def returns_of(batch: Batch, gamma: float) -> np.ndarray:
    rewards, episode = batch.rewards.astype(float), batch.episode
    turns = range(len(rewards))
    return np.array(
        [sum(gamma ** (k - t) * rewards[k] for k in turns if k >= t and episode[k] == episode[t]) for t in turns]
    )


def advantages(algorithm, batch: Batch, scores: Scores | None = None) -> np.ndarray:
    batch = algorithm.prepare(batch)
    return algorithm.credit(batch, scores or Scores()).advantages


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("gamma", "lam"), [(0.9, 0.95), (1.0, 1.0), (0.5, 0.0), (1.0, 0.3)])
def test_gae_is_the_sum_of_all_later_differences(seed, gamma, lam):
    batch = random_batch(seed)
    values = np.random.default_rng(seed + 100).normal(size=batch.num_turns).astype(np.float32)
    last = np.append(batch.episode[1:] != batch.episode[:-1], True)
    differences = [
        batch.rewards[t] + (0 if last[t] else gamma * values[t + 1]) - values[t] for t in range(batch.num_turns)
    ]
    expected = [
        sum(
            (gamma * lam) ** (k - t) * differences[k]
            for k in range(t, batch.num_turns)
            if batch.episode[k] == batch.episode[t]
        )
        for t in range(batch.num_turns)
    ]
    found = generalised_advantages(batch.rewards, values, batch.episode, batch.state_only, gamma, lam)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_an_episode_that_was_truncated_by_choice_continues_with_the_value_of_its_last_state():
    rewards, values = np.array([1, 0, 5], np.float32), np.array([0.25, 4, 2], np.float32)
    episode, state_only = np.array([0, 0, 1]), np.array([False, True, False])
    found = generalised_advantages(rewards, values, episode, state_only, 0.5, 0.9)
    assert found.tolist() == [1 + 0.5 * 4 - 0.25, 0, 5 - 2]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("deviation", [True, False])
@pytest.mark.parametrize("leave_one_out", [True, False])
def test_grpo_compares_with_the_returns_of_the_group(seed, deviation, leave_one_out):
    batch = random_batch(seed)
    returns = returns_of(batch, 0.9)
    group = batch.episodes.group[batch.episode]
    expected = []
    for row, value in enumerate(returns):
        members = [k for k in range(batch.num_turns) if group[k] == group[row]]
        others = [k for k in members if batch.episode[k] != batch.episode[row]]
        mean = np.mean([returns[k] for k in (others if leave_one_out else members)])
        spread = np.std([returns[k] for k in members]) if deviation else 1.0
        expected.append((value - mean) / spread)
    settings = GRPOSettings(gamma=0.9, deviation=deviation, leave_one_out=leave_one_out)
    np.testing.assert_allclose(advantages(GRPO(settings), batch), expected, rtol=1e-4, atol=1e-5)


def test_with_episodes_as_actions_grpo_is_that_of_outcomes():
    """DeepSeekMath, section 4.1.2: the total reward relative to those of the group."""
    batch = Batch.of((), np.array([1, 0, 0, 1, 3], np.float32), np.array([0, 0, 1, 2, 2]), np.array([0, 0, 0]))
    totals = np.array([1, 0, 4])
    found = advantages(GRPO(GRPOSettings(gamma=1.0, actions="episode")), batch)
    np.testing.assert_allclose(found, (totals - totals.mean()) / totals.std(), rtol=1e-5)
    rloo = GRPO(GRPOSettings(gamma=1.0, actions="episode", deviation=False, leave_one_out=True))
    np.testing.assert_allclose(advantages(rloo, batch), [1 - 2, 0 - 2.5, 4 - 0.5])


def test_a_group_without_differences_has_advantages_of_0_beside_one_with_them():
    rewards = np.array([0, 1, 0, 1, 1, 0], np.float32)
    batch = Batch.of((), rewards, np.array([0, 0, 1, 1, 2, 3]), np.array([5, 5, 7, 7]))
    found = advantages(GRPO(GRPOSettings(gamma=0.5)), batch)
    assert found.tolist() == [0, 0, 0, 0, 1, -1]


def test_an_episode_that_is_alone_in_its_group_is_left_out_of_the_update():
    batch = Batch.of((), np.arange(5, dtype=np.float32), np.arange(5), np.array([0, 0, 1, 1, 2]))
    algorithm = GRPO(GRPOSettings())
    prepared = algorithm.prepare(batch)
    assert prepared.trained.tolist() == [True, True, True, True, False]
    found = algorithm.credit(prepared, Scores()).advantages
    assert (found != 0).tolist() == prepared.trained.tolist()


def test_actions_that_are_not_trained_do_not_count_in_the_means():
    rewards = np.array([1, 3, 100], np.float32)
    batch = Batch.of((), rewards, np.arange(3), np.zeros(3, np.int64))
    cut = replace(batch, cut=np.array([False, False, True]))
    for algorithm in (GRPO(GRPOSettings(cut_replies="mask")), ReBN(ReBNSettings(cut_replies="mask"))):
        assert advantages(algorithm, cut).tolist() == [-1, 1, 0]


def test_rebn_normalises_each_environment_by_itself_by_choice():
    batch = Batch.of((), np.array([0, 1, 100, 300], np.float32), np.arange(4))
    mixed = replace(batch, episodes=replace(batch.episodes, env=np.array(["a:A", "a:A", "b:B", "b:B"])))
    assert advantages(ReBN(ReBNSettings(per_env=True)), mixed).tolist() == [-1, 1, -1, 1]
    together = advantages(ReBN(ReBNSettings()), mixed)
    np.testing.assert_allclose(together, (batch.rewards - batch.rewards.mean()) / batch.rewards.std(), rtol=1e-5)


@pytest.mark.parametrize("normalise", [True, False])
def test_ppo_normalises_gae_over_the_batch_by_choice_and_its_critic_learns_the_returns(normalise):
    batch = random_batch(1)
    batch = replace(batch, trained=np.arange(batch.num_turns) % 3 > 0)
    values = np.random.default_rng(2).normal(size=batch.num_turns).astype(np.float32)
    gae = generalised_advantages(batch.rewards, values, batch.episode, batch.state_only, 0.9, 0.8)
    credit = PPO(PPOSettings(gamma=0.9, lam=0.8, normalise=normalise)).credit(batch, Scores(values=values))
    trained = gae[batch.trained]
    expected = np.where(batch.trained, (gae - trained.mean()) / trained.std(), 0) if normalise else gae
    np.testing.assert_allclose(credit.advantages, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(credit.returns, gae + values, rtol=1e-5)


def test_ppo_has_advantages_of_0_if_all_episodes_are_rewarded_alike_and_its_critic_a_target():
    batch = Batch.of((), np.array([0, 1, 0, 1], np.float32), np.array([0, 0, 1, 1]))
    values = np.array([0.5, 0, 0.25, 0], np.float32)
    credit = PPO(PPOSettings(gamma=1.0, lam=1.0)).credit(batch, Scores(values=values))
    assert not credit.advantages.any()
    assert credit.returns.tolist() == [1, 1, 1, 1]
