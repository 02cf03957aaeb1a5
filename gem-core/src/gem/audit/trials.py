"""Replies to single questions."""

from collections.abc import Iterable
from typing import NamedTuple

from gem.audit.task import Task
from gem.testing.play import PlayedEpisode, play


class Trial(NamedTuple):
    """A reply to the question of a seed."""

    seed: int
    reply: str


def asked(task: Task, trials: Iterable[Trial]) -> list[PlayedEpisode]:
    """The episodes of one turn in which these replies are given."""
    with task.make() as env:
        return [play(env, trial.seed, 1, lambda _, reply=trial.reply: reply) for trial in trials]
