"""Levels that are not as hard as they are called."""

import random
from collections.abc import Iterator

from gem import seeding
from gem.audit.chance import wins_more
from gem.audit.finding import Finding
from gem.audit.siblings import harder
from gem.audit.task import Task, first_won, won
from gem.core import Env
from gem.testing.play import PlayedEpisode, expert_or_random
from gem.testing.subject import Inapplicable

SLIPS = 0.3
"""The chance that a weak player plays at random instead of well."""


def probe(task: Task) -> Iterator[Finding]:
    """The next harder level is not won more often, at random or by an expert who slips."""
    other = harder(task)
    if other is None:
        raise Inapplicable("there is no harder level of it")
    for name, here, there in _played(task, other):
        if wins_more(won(there), len(there), won(here), len(here)):
            yield Finding.of(
                first_won(there),
                f"{name} wins {won(here)} of {len(here)} episodes, and {won(there)} of {len(there)} of the harder "
                f"{other.spec.id}.",
                "Choose the arguments of the levels so that players win less of the harder ones, or rename them.",
                kwargs=dict(other.spec.kwargs),
            )


def _played(task: Task, other: Task) -> Iterator[tuple[str, list[PlayedEpisode], list[PlayedEpisode]]]:
    """Who plays, and the episodes on both levels."""
    yield "Random play", task.at_random, other.at_random
    try:
        single = all(len(episode.actions) == 1 for episode in task.by_expert)
    except Inapplicable:
        return
    if not single:  # else who slips does so as often on each level
        yield f"An expert who plays at random {SLIPS:.0%} of the time", _weak(task), _weak(other)


def _weak(task: Task) -> list[PlayedEpisode]:
    slips = random.Random(seeding.derive(0, "slips"))

    def choose(env: Env) -> str:
        return env.sample_action() if slips.random() < SLIPS else expert_or_random(env)

    return task.play(choose)
