"""What the tests of every source of environments ask: checks of the contract, and a vector that is recorded."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import gem
from gem.episode import Episode
from gem.packs.make import bind
from gem.packs.registry import registry
from gem.record import Recorder, read
from gem.rollout import rollout
from gem.rollout.policy import random_policy
from gem.testing.checks import CHECKS
from gem.testing.guard import Guard

MOST_TURNS = 30
"""The turn limit of a check: one that restores a snapshot at every turn takes its square."""


def broken_checks(id: str, leave_out: Collection[str] = (), **kwargs: Any) -> dict[str, str]:
    """The checks of the contract that fail, each with what it says, but for those that the other side cannot meet."""
    found = registry().find(id)
    entry = found._replace(spec=replace(bind(found.spec, **kwargs), max_turns=MOST_TURNS))
    with Guard(60) as guard:
        outcomes = [guard.run(name, entry, 2) for name in CHECKS if name not in leave_out]
    return {outcome.check: outcome.what for outcome in outcomes if outcome.state == "failed"}


def recorded(path: Path, ids: Sequence[str], backend: Any, episodes: int, **kwargs: Any) -> list[Episode]:
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


def differing(records: Sequence[Episode]) -> list[Any]:
    """What came out differently when these episodes were played again."""
    return [found for record in records for found in _differences(record)]


def _differences(record: Episode) -> Iterator[Any]:
    """Observation and reward of each step that differs: recorded, and now."""
    assert record.spec is not None
    with gem.make(record.id, **record.spec.kwargs) as env:
        now, _ = env.reset(seed=record.seed, options=record.options)
        recorded = [*(turn.observation for turn in record.turns[1:]), record.observation]
        if record.turns and now != record.turns[0].observation:
            yield (record.turns[0].observation, 0.0), (now, 0.0)
        for turn, then in zip(record.turns, recorded, strict=True):
            step = env.step(turn.action)
            if (step.observation, step.reward) != (then, turn.reward):
                yield (then, turn.reward), (step.observation, step.reward)
