"""Which episodes a recording holds already, so that they are not played again."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from gem.core import Observation
from gem.packs.component_ref import ComponentRef
from gem.packs.spec import EnvSpec
from gem.record.file import pack_of, read
from gem.record.format import EpisodeRecord, PackVersion, TurnRecord
from gem.rollout.loop import turn_limit
from gem.rollout.transcript import Completion, Episode, Turn


class RecordedEpisodes(NamedTuple):
    """What a file holds of an evaluation."""

    episodes: dict[tuple[str, int], Episode]
    """By id and seed, those that count. One that failed, or that has no end, is played again."""
    others: int
    """Episodes of other policies, other settings or other versions of their pack, or of seeds not asked for."""


def load_recorded(
    path: Path,
    specs: Iterable[EnvSpec],
    seeds: Collection[tuple[str, int]],
    policy: ComponentRef,
    max_turns: int | None,
    since: datetime | None = None,
) -> RecordedEpisodes:
    """What a recording holds of the episodes that `policy` is to play: nothing, where there is no such file.

    Args:
        path: the file.
        specs: the envs, with the kwargs and wrappers in force.
        seeds: the episodes wanted: pairs of id and seed.
        policy: who plays.
        max_turns: after how many turns an episode is cut off; None for the rollout's default.
        since: what began earlier was played by another policy, such as a model with other weights.

    Raises:
        RecordError: a line holds no episode.
        OSError: the file cannot be read.
    """
    found: dict[tuple[str, int], Episode] = {}
    others = 0
    if not path.is_file():
        return RecordedEpisodes(found, others)
    by_id = {spec.id: spec for spec in specs}
    wanted = {id: _settings(spec, pack_of(id), policy) for id, spec in by_id.items()}
    asked = set(seeds)
    for record in read(path):
        if (
            (record.id, record.seed) not in asked
            or record.group != 0
            or _settings(record, record.pack, record.policy) != wanted[record.id]
            or not _within(record, turn_limit(by_id[record.id], max_turns))
            or (since is not None and (record.started is None or record.started < since))
        ):
            others += 1
        elif record.failure is None and record.turns and (record.terminated or record.truncated):
            found[record.id, record.seed] = _episode(record, by_id[record.id])
    return RecordedEpisodes(found, others)


def _settings(env: EnvSpec | EpisodeRecord, pack: PackVersion | None, policy: ComponentRef | None) -> str:
    """All that an episode depends on besides its seed, as JSON: what comes from a file has lists for tuples."""
    named: tuple[Any, ...] = (env.entry_point, env.kwargs, env.max_turns, env.wrappers, pack and tuple(pack), policy)
    return json.dumps(named, sort_keys=True, default=_plain)


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _within(record: EpisodeRecord, limit: int) -> bool:
    """Whether the episode would have come out the same with this limit."""
    turns = len(record.turns)
    return turns == limit if record.cut_off else turns <= limit


def _episode(record: EpisodeRecord, spec: EnvSpec) -> Episode:
    return Episode(
        id=record.id,
        seed=record.seed,
        group=record.group,
        turns=tuple(_turn(turn) for turn in record.turns),
        observation=cast("Observation", record.observation),
        terminated=record.terminated,
        truncated=record.truncated,
        success=record.success,
        cut_off=record.cut_off,
        spec=spec,
        started=record.started,
        seconds=record.seconds,
    )


def _turn(turn: TurnRecord) -> Turn:
    return Turn(cast("Observation", turn.observation), Completion(turn.action), turn.reward, turn.info)
