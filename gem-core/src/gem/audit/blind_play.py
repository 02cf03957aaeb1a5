"""The best list of replies that are given in order, and then again, whatever the env answers: a search for it.

It tries constants, the expert's own episodes, the most frequent replies by turn and overall, letters by frequency, and
every cycle of up to four moves if there are at most 256; then it changes the best list at random, one place at a time,
and keeps changes that are not worse. What it finds is a lower bound: measure it on other episodes.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from gem.core import Env

GLANCE = 8
"""How many episodes are enough to drop a list that is far worse than the best one."""
LETTERS = [f"\\boxed{{{letter}}}" for letter in "ETAOINSRHLDCUMFPGWYBVKXJQZ"]

Choose = Callable[[Env, int], str]
"""From an env and the number of the turn to a reply."""
Score = tuple[int, float]
"""Episodes that are won, and the return of all."""
Games = Sequence[Sequence[str]]
"""The replies of episodes."""
NO_SCORE: Score = (-1, 0.0)
"""Less than any list has."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to search."""

    tried: int = 30
    """How many replies are tried as constants and used in lists."""
    cycles: int = 256
    """The most cycles of moves of a length that are tried."""
    changes: int = 80
    """Random changes of the best list."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An env, and the success of play in it."""

    env: Env
    turns: int = 1000
    """The most turns of an episode."""

    def play(self, seed: int, choose: Choose) -> tuple[bool, float, list[str]]:
        """Whether an episode was won, its return, and the replies; `choose` gets the env and the turn."""
        self.env.reset(seed=seed)
        replies: list[str] = []
        total = 0.0
        while len(replies) < self.turns:
            replies.append(choose(self.env, len(replies)))
            step = self.env.step(replies[-1])
            total += step.reward
            if step.done:
                return bool(step.info["success"]), total, replies
        return False, total, replies

    def success(self, seeds: Sequence[int], choose: Choose) -> float:
        """The share of episodes that are won."""
        return sum(self.play(seed, choose)[0] for seed in seeds) / len(seeds)

    def score(self, replies: Sequence[str], seeds: Sequence[int], beaten: Score = NO_SCORE) -> Score:
        """Episodes won and return of a list of replies; `NO_SCORE` if it falls too far behind `beaten`."""
        won, total = 0, 0.0
        for played, seed in enumerate(seeds):
            behind = beaten[0] * GLANCE / len(seeds) - won
            if (played == GLANCE and behind > 2) or won + len(seeds) - played < beaten[0]:
                return NO_SCORE
            success, earned, _ = self.play(seed, cycled(replies))
            won, total = won + success, total + earned
        return won, total


def cycled(replies: Sequence[str]) -> Choose:
    """Play that gives the replies in order, and then again."""
    return lambda env, turn: replies[turn % len(replies)]


def best_list(
    subject: Subject, at_random: Games, of_expert: Games, seeds: Sequence[int], effort: Effort, rng: random.Random
) -> tuple[list[str], list[str]]:
    """The best constant that was found, as a list of one reply, and the best list of replies.

    Args:
        subject: what is played.
        at_random: the replies of episodes of random play.
        of_expert: those of the expert, which may be none.
        seeds: the episodes on which lists are compared.
        effort: how long to search.
        rng: the source of the changes.
    """
    pool = frequent((*at_random, *of_expert), effort.tried)
    constant, score = _best(subject, ([reply] for reply in pool), seeds, [pool[0]], NO_SCORE)
    found, score = _best(subject, _candidates(at_random, of_expert, effort.cycles), seeds, constant, score)
    longest = max(map(len, at_random))
    blind = [found[turn % len(found)] for turn in range(max(longest, min(len(found), 200)))]
    for _ in range(effort.changes):
        changed = blind.copy()
        place = rng.randrange(longest)
        if rng.random() < 0.3:
            changed.insert(place, changed.pop(rng.randrange(longest)))
        else:
            changed[place] = rng.choice(pool)
        if (new := subject.score(changed, seeds, score)) >= score:
            blind, score = changed, new
    return list(constant), blind


def frequent(games: Games, most: int) -> list[str]:
    """The replies that were given most often."""
    every = Counter(reply for game in games for reply in game)
    return [reply for reply, _ in every.most_common(most)]


def _candidates(games_at_random: Games, games_of_expert: Games, cycles: int) -> Iterator[Sequence[str]]:
    """Lists to try, from episodes that were played."""
    for games in (games_of_expert, games_at_random):
        if not games:
            continue
        longest = max(map(len, games))
        columns = [Counter(game[turn] for game in games if turn < len(game)) for turn in range(longest)]
        yield [column.most_common(1)[0][0] for column in columns]
        common = frequent(games, 200)
        yield common
        yield [*LETTERS[:8], *common[:50]]
    yield from games_of_expert[:12]
    yield LETTERS
    replies = sorted({reply for game in games_at_random for reply in game})
    for length in (2, 3, 4):
        if len(replies) ** length <= cycles:
            yield from map(list, product(replies, repeat=length))


def _best(
    subject: Subject, lists: Iterable[Sequence[str]], seeds: Sequence[int], chosen: Sequence[str], score: Score
) -> tuple[Sequence[str], Score]:
    """The best of some lists of replies, or `chosen`, whose score was `score`, if none is better; and its score."""
    for replies in lists:
        if (found := subject.score(replies, seeds, score)) > score:
            chosen, score = replies, found
    return chosen, score
