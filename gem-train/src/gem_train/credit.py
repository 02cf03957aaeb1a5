"""Credit assignment: from the rewards of turns to their advantages. Pure functions on NumPy arrays."""

from dataclasses import dataclass

import numpy as np

from gem_train.batch import Floats, Ints


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit of each turn: its `returns` and `advantages`, ``[turns]`` each."""

    returns: Floats
    advantages: Floats


def discounted_returns(rewards: Floats, episode: Ints, gamma: float) -> Floats:
    """``G_t = r_t + gamma * G_{t+1}`` within each episode.

    Args:
        rewards: ``[turns]``, the turns of an episode consecutive and in order.
        episode: ``[turns]``, which episode each turn belongs to.
        gamma: discount per turn, from 0 to 1.
    """
    returns = np.zeros(len(rewards), np.float64)
    following = 0.0
    for turn in range(len(rewards) - 1, -1, -1):
        if turn + 1 == len(rewards) or episode[turn + 1] != episode[turn]:
            following = 0.0
        following = float(rewards[turn]) + gamma * following
        returns[turn] = following
    return returns.astype(np.float32)


def normalised(values: Floats, epsilon: float = 1e-8) -> Floats:
    """``(x - mean) / (std + epsilon)`` over the whole batch, with the population's standard deviation.

    Applied to the returns of all turns, this is return batch normalisation (ReBN): *GEM: A Gym for Agentic LLMs*, arXiv
    2510.01051.
    """
    if len(values) == 0 or values.min() == values.max():
        return np.zeros_like(values)  # exactly, where rounding of the mean would leave a trace
    exact = values.astype(np.float64)
    return ((exact - exact.mean()) / (exact.std() + epsilon)).astype(np.float32)


def rewarded_alike(rewards: Floats, episode: Ints) -> bool:
    """Whether there are several episodes and all have the same rewards, turn by turn.

    Args:
        rewards: ``[turns]``, the turns of an episode consecutive and in order.
        episode: ``[turns]``, which episode each turn belongs to.
    """
    starts = np.flatnonzero(np.diff(episode)) + 1
    first, *others = np.split(rewards, starts)
    return bool(others) and all(np.array_equal(first, other) for other in others)
