"""Ratings of players by Bradley and Terry's model, with bootstrap intervals."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ELO = 400 / math.log(10)
"""Points of a rating per unit of log odds: 400 points are odds of 10 to 1, as on Elo's scale."""
PRIOR = 0.5
"""Wins, and losses, of every player against one of rating 0 beside its games, so that one who has won all of them has
a finite rating."""
REPLICATES = 1000
"""Replicates of the bootstrap."""
_AT_ONCE = 100
_MOST_STEPS = 200


class Duel(NamedTuple):
    """A comparison of two players: `points` of the `first` against the `second`, 1, 0.5 (a draw) or 0."""

    first: int
    second: int
    points: float


class Rating(NamedTuple):
    """A rating on Elo's scale, with its 95% interval. The mean of all players is 0."""

    value: float
    low: float
    high: float


def ratings(units: Iterable[Sequence[Duel]], players: int, seed: int = 0) -> list[Rating]:
    """Ratings of players from their games, whose points follow Bradley and Terry's model: with ratings 400 apart, the
    better of two gets 10 points for every point of the other.

    The ratings maximise the posterior: a draw counts as half a win and half a loss, and every player also has `PRIOR`
    wins and losses against one of rating 0. The intervals are those of the Bayesian bootstrap, in which units have
    random weights, as have the wins and losses of the prior. So a player who has won all games gets a wide interval,
    where other bootstraps give none.

    Args:
        units: what is independent of each other, such as the games of one seed, each with the results in it.
        players: their number; in a result they are called 0, 1, …
        seed: of the bootstrap.

    Sources: R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block designs", Biometrika 39 (1952); D. B. Rubin,
    "The Bayesian bootstrap", Annals of Statistics 9 (1981).
    """
    # Few, where a unit is a few games of two; in an order that does not depend on the games' order.
    kinds = dict(sorted(Counter(tuple(sorted(unit)) for unit in units).items()))
    wins = np.zeros((len(kinds), players, players))
    for kind, duels in enumerate(kinds):
        for first, second, points in duels:
            wins[kind, first, second] += points
            wins[kind, second, first] += 1 - points
    counts = np.array(list(kinds.values()), dtype=np.float64)
    rng = np.random.default_rng(seed)
    drawn: list[Floats] = []
    for _ in range(0, REPLICATES, _AT_ONCE):
        # The sum of so many weights that are exponential. A weight of 0 would make a rating infinite.
        weights = rng.gamma(counts, size=(_AT_ONCE, len(kinds)))
        virtual = np.maximum(rng.gamma(PRIOR, size=(_AT_ONCE, players, 2)), 1e-9)
        drawn.append(strengths(np.tensordot(weights, wins, axes=1), virtual))
    lows, highs = ELO * np.quantile(np.concatenate(drawn), (0.025, 0.975), axis=0)
    values = ELO * strengths(np.tensordot(counts, wins, axes=1), np.full((players, 2), PRIOR))
    # The median of the replicates differs from the value where one has won everything; the interval has both.
    return [
        Rating(float(value), float(min(low, value)), float(max(high, value)))
        for value, low, high in zip(values, lows, highs, strict=True)
    ]


def strengths(wins: Floats, virtual: Floats) -> Floats:
    """Log strengths of Bradley and Terry's model that maximise the posterior, less their mean; by Newton's method.

    Args:
        wins: [..., players, players]; how often each (row) has won against each (column), draws as halves.
        virtual: [..., players, 2]; positive wins and losses of each against a player of strength 1.

    Returns:
        [..., players]; the odds of two are the exponential of the difference.
    """
    games = wins + np.swapaxes(wins, -1, -2)
    won: Floats = wins.sum(-1) + virtual[..., 0]
    own: Floats = virtual.sum(-1)
    players = wins.shape[-1]
    found: Floats = np.zeros(won.shape)
    diagonal = list(range(players))
    for _ in range(_MOST_STEPS):
        expected = _logistic(found[..., :, None] - found[..., None, :])
        of_own = _logistic(found)
        slope = won - (games * expected).sum(-1) - own * of_own
        curvature = -games * expected * (1 - expected)
        curvature[..., diagonal, diagonal] = own * of_own * (1 - of_own) - curvature.sum(-1)
        step = _solved(curvature, slope)
        size: Floats = np.abs(step).max(-1, keepdims=True, initial=0.0)
        found += step / np.maximum(size, 1.0)  # far away, a whole step may lead further away
        if size.max(initial=0.0) < 1e-9:
            break
    return found - found.mean(-1, keepdims=True)


def _solved(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, right[..., None])[..., 0], dtype=np.float64)


def _logistic(x: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(0.5 * x))
