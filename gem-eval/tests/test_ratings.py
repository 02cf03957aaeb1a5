"""Ratings by Bradley and Terry's model: against another algorithm, and on players of known strength."""

import itertools

import numpy as np
import pytest

from gem_eval.results.ratings import ELO, PRIOR, Duel, Rating, ratings, strengths


def by_minorisation(wins: np.ndarray, virtual: np.ndarray) -> np.ndarray:
    """The same estimate by the MM algorithm of D. R. Hunter, Annals of Statistics 32 (2004)."""
    gamma = np.ones(len(wins))
    for _ in range(20_000):
        games = wins + wins.T
        bottom = (games / (gamma[:, None] + gamma[None, :])).sum(1) + virtual.sum(1) / (gamma + 1)
        gamma = (wins.sum(1) + virtual[:, 0]) / bottom
    return np.log(gamma) - np.log(gamma).mean()


@pytest.mark.parametrize("seed", range(3))
def test_the_strengths_are_those_that_another_algorithm_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 9, (5, 5)) / 2
    np.fill_diagonal(wins, 0)
    wins[0] += 6  # the first wins nearly always, and
    wins[:, 0] = 0  # is never beaten
    wins[0, 0] = 0
    virtual = rng.gamma(PRIOR, size=(5, 2)) + 0.01
    assert strengths(wins, virtual) == pytest.approx(by_minorisation(wins, virtual), abs=1e-6)
    both = strengths(np.stack([wins, wins.T]), np.stack([virtual, virtual]))
    assert both[0] == pytest.approx(strengths(wins, virtual))


def simulated(rng: np.random.Generator, truth: np.ndarray, games: int) -> list[list[Duel]]:
    """Seeds of two games, all pairs in turn."""
    pairs = itertools.cycle(itertools.combinations(range(len(truth)), 2))
    chances = {
        (one, two): 1 / (1 + np.exp((truth[two] - truth[one]) / ELO))
        for one, two in itertools.product(range(len(truth)), repeat=2)
    }
    return [
        [Duel(*pair, float(each < chances[pair])) for each in rng.random(2)]
        for pair in itertools.islice(pairs, games // 2)
    ]


def test_intervals_hold_the_strengths_of_simulated_players() -> None:
    """The benchmark `benchmarks/ratings.py` does this with more players, games and repeats."""
    truth = np.array([-150.0, -20.0, 0.0, 170.0])
    found = [ratings(simulated(np.random.default_rng(repeat), truth, 400), 4) for repeat in range(60)]
    held = [each.low <= true <= each.high for rated in found for each, true in zip(rated, truth, strict=True)]
    assert 0.9 <= np.mean(held) <= 0.98
    assert np.mean([[each.value for each in rated] for rated in found], 0) == pytest.approx(truth, abs=10)
    # Planted: intervals of a third of the width hold far fewer.
    thin = [
        each._replace(low=each.value - (each.value - each.low) / 3, high=each.value + (each.high - each.value) / 3)
        for rated in found
        for each in rated
    ]
    assert np.mean([each.low <= true <= each.high for each, true in zip(thin, itertools.cycle(truth))]) < 0.9


def test_who_won_everything_has_a_finite_rating_and_an_interval_that_shrinks_with_more_games() -> None:
    def width(games: int) -> tuple[Rating, Rating]:
        one, two = ratings([[Duel(0, 1, 1.0)]] * games, 2)
        return one, two

    few, many = width(5), width(500)
    for one, two in (few, many):
        assert one.value == pytest.approx(-two.value)
        assert 0 < one.low < one.value < one.high < 4000
    assert few[0].low < few[0].value < many[0].low < many[0].value


def test_games_of_one_seed_are_worth_one_unit() -> None:
    alike = [[Duel(0, 1, points)] * 2 for points in (1.0, 1.0, 0.0) * 20]
    apart = [[duel] for unit in alike for duel in unit]
    together, separate = ratings(alike, 2)[0], ratings(apart, 2)[0]
    assert together.value == pytest.approx(separate.value)
    assert together.high - together.low == pytest.approx((separate.high - separate.low) * 2**0.5, rel=0.1)


def test_players_without_games_or_units_at_all_have_the_mean_rating() -> None:
    assert [each.value for each in ratings([], 3)] == [0, 0, 0]
    one, two, idle = ratings([[Duel(0, 1, 1.0)]] * 10, 3)
    assert one.value > idle.value > two.value
    assert idle.high - idle.low > one.high - one.low
