"""How often the intervals of ratings hold the true strengths of simulated players, and whether their order is found.

    python benchmarks/ratings.py [--players 8] [--games 1000] [--repeats 60]

Players of known strength, 100 points apart, play each other: seeds of two games whose seats are swapped, in turn for
all pairs. Prints the share of intervals that hold the truth, over all players and repeats, Spearman's correlation
of ratings and strengths (the mean and the lowest of the repeats), and the same where some games are draws: of two that
are equal half of them, and fewer of others.
"""

import argparse
import itertools
import json
import time

import numpy as np

from gem_eval.results.ratings import Duel, ratings

APART = 100


def simulated(rng, strengths, games, draws):
    """Units of two games, of all pairs in turn; a draw is as likely to take a win as a loss."""
    pairs = itertools.cycle(itertools.combinations(range(len(strengths)), 2))
    for first, second in itertools.islice(pairs, games // 2):
        chance = 1 / (1 + 10 ** ((strengths[second] - strengths[first]) / 400))
        slack = draws * min(chance, 1 - chance)
        points = (0.5 if abs(each - chance) < slack else float(each < chance) for each in rng.random(2))
        yield [Duel(first, second, each) for each in points]


def measure(players, games, repeats, draws=0.0, seed=0):
    strengths = APART * (np.arange(players) - (players - 1) / 2)
    held, correlations, widths = 0, [], []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        found = ratings(simulated(rng, strengths, games, draws), players, seed=repeat)
        held += sum(each.low <= strength <= each.high for each, strength in zip(found, strengths, strict=True))
        ranks = np.argsort(np.argsort([each.value for each in found]))
        correlations.append(float(np.corrcoef(ranks, np.arange(players))[0, 1]))
        widths.append(float(np.mean([each.high - each.low for each in found])))
    return {
        "coverage": held / (repeats * players),
        "spearman_mean": float(np.mean(correlations)),
        "spearman_lowest": min(correlations),
        "interval_width": float(np.mean(widths)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("players", 8), ("games", 1000), ("repeats", 60)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = vars(parser.parse_args())
    started = time.perf_counter()
    report = {"without_draws": measure(**given), "with_draws": measure(**given, draws=0.5)}
    print(json.dumps({**given, **report, "seconds": time.perf_counter() - started}, indent=2))


if __name__ == "__main__":
    main()
