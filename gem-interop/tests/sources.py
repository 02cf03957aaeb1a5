"""What the tests of every source of environments ask: checks of the contract, and a vector that is recorded."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import gem
from gem.packs.make import bind
from gem.packs.registry import registry
from gem.record import EpisodeRecord, Recorder, read, reproduce
from gem.rollout import rollout
from gem.rollout.policy import random_policy
from gem.testing.checks import CHECKS
from gem.testing.guard import Guard

MOST_TURNS = 30
"""The turn limit of a check: one that restores a snapshot at every turn takes its square."""


def broken_checks(id: str, leave_out: Collection[str] = (), **kwargs: Any) -> dict[str, str]:
    """The checks of the contract that fail, each with what it says, but for those that the other side cannot meet."""
    found = registry().find(id)
    entry = found._replace(spec=bind(found.spec, **kwargs).model_copy(update={"max_turns": MOST_TURNS}))
    with Guard(60) as guard:
        outcomes = [guard.run(name, entry, 2) for name in CHECKS if name not in leave_out]
    return {outcome.check: outcome.what for outcome in outcomes if outcome.state == "failed"}


def recorded(path: Path, ids: Sequence[str], backend: Any, episodes: int, **kwargs: Any) -> list[EpisodeRecord]:
    """That many random episodes of each id, played in a vector and recorded."""
    policy = random_policy()
    with (
        gem.make_vec(
            list(ids), 2 * len(ids), backend=backend, num_workers=2, info_methods=policy.info_methods, env_kwargs=kwargs
        ) as envs,
        Recorder(path) as recorder,
    ):
        played = list(recorder.record(rollout(policy, envs, range(episodes * len(ids)))))
    assert [str(episode.failure) for episode in played if episode.failure] == []
    records = list(read(path))
    assert {id: sum(record.id == id for record in records) for id in ids} == dict.fromkeys(ids, episodes)
    return records


def differing(records: Sequence[EpisodeRecord], **settings: Any) -> list[Any]:
    """What came out differently when these episodes were played again."""
    return [difference for difference in (reproduce(record, **settings) for record in records) if difference]
