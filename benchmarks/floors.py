"""Success of policies that ignore observations, beside random play and the expert.

    python benchmarks/floors.py [--ids game:Hangman-v0-hard,math:Arithmetic-v0] [--episodes 300] [--json FILE]

- random: `sample_action`, which may use the state (it names only possible moves, or words of the right length).
- constant: the best single reply, given in every turn.
- blind: the best list of replies that was found, given in order and then again, whatever the env answers.
- expert: `expert_action`.

Where blind play is as good as the expert, an agent does not need the observations. The search for a list tries
constants, the expert's own episodes, the most frequent replies by turn and overall, letters by frequency, and every
cycle of up to four moves if there are at most 256; then it changes the best list at random, one place at a time, and
keeps changes that are not worse. It searches on its own episodes and reports others. It finds a lower bound.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any

import gem
from gem import seeding
from gem.errors import ConfigError

NAMESPACES = ("game", "logic", "math", "tools")
LEFT_OUT = {"data-set", "images"}
"""Tags of ids that need a download, or ask in images what others ask in words."""
TRAINED = 40
"""Episodes on which lists are compared."""
GLANCE = 8
"""How many of them are enough to drop a list that is far worse than the best one."""
TRIED = 30
"""How many replies are tried as constants and used in lists."""
CHANGES = 80
"""Random changes of the best list."""
LETTERS = [f"\\boxed{{{letter}}}" for letter in "ETAOINSRHLDCUMFPGWYBVKXJQZ"]


Choose = Callable[[gem.Env, int], str]
"""From an env and the number of the turn to a reply."""
Score = tuple[int, float]
"""Episodes that are won, and the return of all."""
Games = Sequence[Sequence[str]]
"""The replies of episodes."""


class Subject:
    """An env, and the success of play in it."""

    def __init__(self, env: gem.Env) -> None:
        self.env = env

    def play(self, seed: int, choose: Choose) -> tuple[bool, float, list[str]]:
        """Whether an episode was won, its return, and the replies; `choose` gets the env and the turn."""
        self.env.reset(seed=seed)
        replies: list[str] = []
        total = 0.0
        while True:
            replies.append(choose(self.env, len(replies)))
            step = self.env.step(replies[-1])
            total += step.reward
            if step.done:
                return bool(step.info["success"]), total, replies

    def success(self, seeds: Sequence[int], choose: Choose) -> float:
        """The share of episodes that are won."""
        return sum(self.play(seed, choose)[0] for seed in seeds) / len(seeds)

    def score(self, replies: Sequence[str], seeds: Sequence[int], beaten: Score = (-1, 0.0)) -> Score:
        """Episodes won and return of a list of replies; (-1, 0) if it falls too far behind `beaten`."""
        won, total = 0, 0.0
        for played, seed in enumerate(seeds):
            behind = beaten[0] * GLANCE / len(seeds) - won
            if (played == GLANCE and behind > 2) or won + len(seeds) - played < beaten[0]:
                return -1, 0.0
            success, earned, _ = self.play(seed, cycled(replies))
            won, total = won + success, total + earned
        return won, total


def sampled(env: gem.Env, turn: int) -> str:
    return env.sample_action()


def expert(env: gem.Env, turn: int) -> str:
    action = env.expert_action()
    if action is None:
        raise ConfigError(f"{env.spec and env.spec.id} has no expert")
    return action


def cycled(replies: Sequence[str]) -> Choose:
    return lambda env, turn: replies[turn % len(replies)]


def candidates(games_at_random: Games, games_of_expert: Games) -> Iterator[Sequence[str]]:
    """Lists to try, from episodes that were played."""
    for games in (games_of_expert, games_at_random):
        longest = max(map(len, games))
        columns = [Counter(game[turn] for game in games if turn < len(game)) for turn in range(longest)]
        yield [column.most_common(1)[0][0] for column in columns]
        common = [reply for reply, _ in Counter(reply for game in games for reply in game).most_common()]
        yield common[:200]
        yield [*LETTERS[:8], *common[:50]]
    yield from games_of_expert[:12]
    yield LETTERS
    replies = sorted({reply for game in games_at_random for reply in game})
    for length in (2, 3, 4):
        if len(replies) ** length <= 256:
            yield from map(list, product(replies, repeat=length))


def best(
    subject: Subject,
    lists: Iterable[Sequence[str]],
    trained: Sequence[int],
    chosen: Sequence[str] | None = None,
    score: Score = (-1, 0.0),
) -> tuple[Sequence[str] | None, Score]:
    """The best of some lists of replies, or `chosen`, whose score was `score`, if none is better; and its score."""
    for replies in lists:
        if (found := subject.score(replies, trained, score)) > score:
            chosen, score = replies, found
    return chosen, score


def frequent(games: Games) -> list[str]:
    """The replies that were given most often."""
    every = Counter(reply for game in games for reply in game)
    return [reply for reply, _ in every.most_common(TRIED)]


def floors(id: str, episodes: int) -> dict[str, Any]:
    """A row of the table."""
    subject = Subject(gem.make(id))
    trained = [seeding.derive(1, "floors", id, number) for number in range(TRAINED)]
    tested = [seeding.derive(2, "floors", id, number) for number in range(episodes)]
    at_random = [subject.play(seed, sampled)[2] for seed in trained]
    of_expert = [subject.play(seed, expert)[2] for seed in trained]
    pool = frequent((*at_random, *of_expert))
    constant, score = best(subject, ([reply] for reply in pool), trained)
    found, score = best(subject, candidates(at_random, of_expert), trained, constant, score)
    assert constant is not None
    assert found is not None
    rng = random.Random(id)
    longest = max(map(len, at_random))
    blind = [found[turn % len(found)] for turn in range(max(longest, min(len(found), 200)))]
    for _ in range(CHANGES):
        changed = blind.copy()
        place = rng.randrange(longest)
        if rng.random() < 0.3:
            changed.insert(place, changed.pop(rng.randrange(longest)))
        else:
            changed[place] = rng.choice(pool)
        if (new := subject.score(changed, trained, score)) >= score:
            blind, score = changed, new
    return {
        "id": id,
        "random": subject.success(tested, sampled),
        "constant": subject.success(tested, cycled(constant)),
        "blind": subject.success(tested, cycled(blind)),
        "expert": subject.success(tested, expert),
        "reply": constant[0],
        "replies": blind[:longest],
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| id | random | constant | blind | expert |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        shares = [f"{row[kind]:.2f}" for kind in ("random", "constant", "blind", "expert")]
        lines.append(f"| `{row['id']}` | {' | '.join(shares)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ids", type=lambda text: text.split(","), help="by default all")
    parser.add_argument("--episodes", type=int, default=200, help="episodes that the numbers are of")
    parser.add_argument("--json", help="write the rows, with the replies, to this file")
    arguments = parser.parse_args()
    ids = arguments.ids or [
        spec.id for spec in gem.all_specs() if spec.namespace in NAMESPACES and LEFT_OUT.isdisjoint(spec.tags)
    ]
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for row in pool.map(floors, ids, [arguments.episodes] * len(ids)):
            rows.append(row)
            print(table([row]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(rows))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
