"""Credit assignment: from the rewards of actions to their advantages. Pure functions on NumPy arrays.

Actions are rows of a table, ``[actions]``; those of an episode are consecutive and in order.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gem_train.batch import Batch, Bools, Floats, Ints, Strings

ROUNDING = 1e-6
"""Relative to the rewards of an episode: smaller differences of returns are rounding errors of float32."""


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit of each action: its `returns` and `advantages`, ``[actions]`` each."""

    returns: Floats
    advantages: Floats


def discounted_returns(rewards: Floats, episode: Ints, gamma: float) -> Floats:
    """``G_t = r_t + gamma * G_{t+1}`` within each episode.

    Args:
        rewards: ``[actions]``.
        episode: ``[actions]``, which episode each action belongs to.
        gamma: discount per action, from 0 to 1.
    """
    returns = np.zeros(len(rewards), np.float64)
    following = 0.0
    for turn in range(len(rewards) - 1, -1, -1):
        if turn + 1 == len(rewards) or episode[turn + 1] != episode[turn]:
            following = 0.0
        following = float(rewards[turn]) + gamma * following
        returns[turn] = following
    return returns.astype(np.float32)


def generalised_advantages(
    rewards: Floats, values: Floats, episode: Ints, state_only: Bools, gamma: float, lam: float
) -> Floats:
    """GAE: ``A_t = d_t + gamma * lam * A_{t+1}`` with ``d_t = r_t + gamma * V_{t+1} - V_t`` within each episode.

    After the last action of an episode V is 0. A row of `state_only` stands for the state at which the episode was
    truncated by choice: its value follows the action before it, and its own advantage is 0.

    Source: Schulman et al., "High-dimensional continuous control using generalized advantage estimation", arXiv
    1506.02438, equations 11 to 16.

    Args:
        rewards: as of `discounted_returns`.
        episode: as of `discounted_returns`.
        gamma: as of `discounted_returns`.
        values: ``[actions]``, of the state before each action.
        state_only: ``[actions]``, whether a row stands for a state without an action.
        lam: from 0 (one step of bootstrapping) to 1 (the whole return).
    """
    advantages = np.zeros(len(rewards), np.float64)
    value = advantage = 0.0
    for turn in range(len(rewards) - 1, -1, -1):
        if turn + 1 == len(rewards) or episode[turn + 1] != episode[turn]:
            value = advantage = 0.0
        if not state_only[turn]:
            difference = float(rewards[turn]) + gamma * value - float(values[turn])
            advantage = difference + gamma * lam * advantage
            advantages[turn] = advantage
        value = float(values[turn])
    return advantages.astype(np.float32)


def compared(
    returns: Floats, batch: Batch, label: Ints, *, deviation: bool = True, leave_one_out: bool = False
) -> Floats:
    """``(G - mean G) / std G`` over the trained actions of the episodes with the same label; 0 for the others.

    If there is nothing to compare, advantages are exactly 0: where all episodes of a label have the same rewards,
    action by action (with a discount the formula would otherwise prefer early actions to late ones, or the reverse,
    whatever they were), or where returns differ by no more than rounding.

    Args:
        returns: ``[actions]``.
        batch: which episode an action belongs to, and whether it is trained.
        label: ``[episodes]``; below 0 for an episode that is left out.
        deviation: whether to divide by the population's standard deviation.
        leave_one_out: whether the mean is that of the other episodes with the label.
    """
    advantages = np.zeros(len(returns), np.float64)
    of = label[batch.episode]
    for each in np.unique(label[label >= 0]):
        members = of == each
        if rewarded_alike(batch.rewards[members], batch.episode[members]):
            continue
        chosen = members & batch.trained
        values, owner = returns[chosen].astype(np.float64), batch.episode[chosen]
        spread = values.std() if len(values) else 0.0
        if spread <= ROUNDING * batch.episodes.magnitude[label == each].max():
            continue
        baseline = _means_of_others(values, owner) if leave_one_out else values.mean()
        advantages[chosen] = (values - baseline) / (spread if deviation else 1.0)
    return advantages.astype(np.float32)


def _means_of_others(values: NDArray[np.float64], owner: Ints) -> NDArray[np.float64]:
    """Means over the values of other owners, for each value; its own where there are no others."""
    sums, counts = np.bincount(owner, values), np.bincount(owner)
    others = counts.sum() - counts[owner]
    return np.where(others > 0, (sums.sum() - sums[owner]) / np.maximum(others, 1), values)


def rewarded_alike(rewards: Floats, episode: Ints) -> bool:
    """True if there are several episodes and all have the same rewards, action by action: ``[actions]`` each."""
    starts = np.flatnonzero(np.diff(episode)) + 1
    first, *others = np.split(rewards, starts)
    return bool(others) and all(np.array_equal(first, other) for other in others)


def numbered(names: Strings) -> Ints:
    """A number for each name: equal for equal names."""
    return np.unique(names, return_inverse=True)[1].astype(np.int64)
