"""Best-of-n from the middle of an episode, with `env.fork`.

    python examples/best_of_n.py

Some random moves lead into the middle of a Tower of Hanoi. From there, one player continues at random; the other, at
each turn, samples a few moves, plays every one of them to the end several times in forks of the game, and makes the
move whose continuations earned most on average. Both start from forks of one game, so they are compared in pairs.

A fork contains hidden information of the game too. Here nothing is hidden, so looking ahead is fair; in a game with
hidden information the same search gives values to train on, not a fair player.
"""

import math
import statistics

import gem
from gem_eval.results.intervals import wilson_interval

GAME = "game:TowerofHanoi-v0-easy"
MAX_TURNS = 20
OPENING = 4
"""Random moves before the two players take over."""

CANDIDATES = 4
CONTINUATIONS = 8
GAMES = 40


def play_at_random(env: gem.Env) -> tuple[float, bool]:
    """Go on to the end with random moves; the return from here, and whether it was a success."""
    earned = 0.0
    while True:
        step = env.step(env.sample_action())
        earned += step.reward
        if step.done:
            return earned, step.info["success"]


def value(env: gem.Env, action: str, seeds: list[int]) -> float:
    """The mean return of `action` followed by random moves, one continuation for each of `seeds`."""
    returns: list[float] = []
    for copy, seed in zip(env.fork(len(seeds)), seeds, strict=True):
        # Forks are equal in everything, their random generators included, until they are reseeded.
        copy.action_rng.seed(seed)
        step = copy.step(action)
        returns.append(step.reward if step.done else step.reward + play_at_random(copy)[0])
    return statistics.mean(returns)


def play_best_of_n(env: gem.Env) -> tuple[float, bool]:
    """Go on to the end with the best of a few sampled moves; the return from here, and whether it was a success."""
    earned = 0.0
    while True:
        candidates = sorted({env.sample_action() for _ in range(CANDIDATES)})
        seeds = [env.action_rng.getrandbits(32) for _ in range(CONTINUATIONS)]
        step = env.step(max(candidates, key=lambda action: value(env, action, seeds)))
        earned += step.reward
        if step.done:
            return earned, step.info["success"]


def middle_of_a_game(seed: int) -> gem.Env:
    """A game after its opening, not over yet."""
    env = gem.make(GAME, max_turns=MAX_TURNS)
    env.reset(seed=seed)
    for _ in range(OPENING):
        env.step(env.sample_action())
    return env


def report(name: str, results: list[tuple[float, bool]]) -> None:
    """Print one player's mean return and success."""
    successes = sum(success for _, success in results)
    low, high = wilson_interval(successes, len(results))
    mean_return = statistics.mean(earned for earned, _ in results)
    print(
        f"{name:>10}: return {mean_return:.2f}, success {successes}/{len(results)} (95% interval {low:.2f}–{high:.2f})"
    )


def main() -> None:
    """Play the games, and print who did how well."""
    at_random: list[tuple[float, bool]] = []
    best_of_n: list[tuple[float, bool]] = []
    for seed in range(GAMES):
        left, right = middle_of_a_game(seed).fork(2)
        at_random.append(play_at_random(left))
        best_of_n.append(play_best_of_n(right))
    report("random", at_random)
    report(f"best of {CANDIDATES}", best_of_n)
    gains = [best[0] - plain[0] for best, plain in zip(best_of_n, at_random, strict=True)]
    gain, error = statistics.mean(gains), statistics.stdev(gains) / math.sqrt(len(gains))
    print(
        f"Looking ahead from turn {OPENING} gains {gain:.2f} ± {1.96 * error:.2f} (95%) in return over {GAMES} games."
    )
    print("It beats random play." if gain > 1.96 * error else "It does not beat random play for certain.")


if __name__ == "__main__":
    main()
